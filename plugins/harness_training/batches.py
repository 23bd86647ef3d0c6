"""Which examples stand in which batch: it follows from the seed and the step, so nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from harness.types import Examples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Floats, Ints

Draw = Literal["sample", "stride"]


class Batch(NamedTuple):
    """Some queries with a list of passages each, the positive first."""

    queries: list[str]
    texts: list[str]  # P: the distinct passages of all lists
    lists: Ints  # int64[Q, L]: places in `texts`; -1 fills a short list
    scores: Floats  # float32[Q, L]: what the run that the negatives come from says; NaN where it is silent
    allowed: NDArray[np.bool_]  # bool[Q, P]: False for what must not be a negative of the query


def usable(examples: Examples, scored: bool = False) -> Ints:
    """The queries with a positive; with `scored`, those of which a positive has a score, as a teacher's."""
    kept = []
    for query in range(len(examples.queries)):
        scores = examples.positives.scores[slice(*examples.positives.bounds[query : query + 2])]
        if len(scores) and not (scored and np.isnan(scores).all()):
            kept.append(query)
    return np.array(kept, np.int64)


def steps_of(queries: Ints, batch: int, epochs: int) -> int:
    return epochs * -(-len(queries) // batch)


def batch_of(
    examples: Examples,
    queries: Ints,
    step: int,
    *,
    size: int,
    negatives: int,
    seed: int,
    draw: Draw = "sample",
    scored: bool = False,
) -> Batch:
    """The batch of a step, which depends on nothing but these arguments."""
    epoch, at = divmod(step, -(-len(queries) // size))
    order = np.random.default_rng([seed, epoch]).permutation(queries)
    chosen = order[at * size : (at + 1) * size]
    lists = np.full((len(chosen), 1 + negatives), -1, np.int64)
    scores = np.full(lists.shape, np.nan, np.float32)
    for row, query in enumerate(chosen.tolist()):
        chance = np.random.default_rng([seed, epoch, query])
        good, good_scores = examples.positives.of(query)
        open_ = np.flatnonzero(~np.isnan(good_scores)) if scored else np.arange(len(good))
        first = chance.choice(open_)
        lists[row, 0], scores[row, 0] = good[first], good_scores[first]
        bad, bad_scores = _drawn_negatives(examples, query, negatives, epoch, chance, draw)
        lists[row, 1 : 1 + len(bad)], scores[row, 1 : 1 + len(bad)] = bad, bad_scores
    positions, places = np.unique(lists[lists >= 0], return_inverse=True)
    lists[lists >= 0] = places
    texts = examples.texts_at(positions)
    rows = chosen.tolist()
    return Batch(
        [examples.queries[query] for query in rows],
        texts,
        lists,
        scores,
        _allowed(examples, rows, texts, lists),
    )


def _drawn_negatives(
    examples: Examples, query: int, wanted: int, epoch: int, chance: np.random.Generator, draw: Draw
) -> tuple[Ints, Floats]:
    """Those of one epoch. RocketQAv2's hybrid augmentation (Ren et al. 2021, section 3.3) takes a share of
    them from what was not denoised, and what that lacks from the denoised; none twice."""
    bad, scores = examples.negatives.of(query)
    raw, raw_scores = bad[:0], scores[:0]
    if examples.undenoised is not None:
        raw, raw_scores = examples.undenoised.of(query)
        picked = drawn(len(raw), round(examples.share * wanted), epoch, chance, draw)
        raw, raw_scores = raw[picked], raw_scores[picked]
    left = np.flatnonzero(~np.isin(bad, raw))
    picked = left[drawn(len(left), wanted - len(raw), epoch, chance, draw)]
    return np.concatenate([raw, bad[picked]]), np.concatenate([raw_scores, scores[picked]])


def drawn(pool: int, wanted: int, epoch: int, chance: np.random.Generator, draw: Draw) -> Ints:
    """Places in a pool of so many negatives, best first, for one epoch: at random without repetition, or by
    T2Ranking's stride, `pool[offset::interval]` with interval = pool // wanted and offset = epoch modulo
    interval. Fewer where the pool is smaller."""
    if pool <= wanted or not wanted:
        return np.arange(min(pool, wanted))
    if draw == "sample":
        return np.sort(chance.choice(pool, wanted, replace=False))
    interval = pool // wanted
    return np.arange(epoch % interval, pool, interval)[:wanted]


def _allowed(
    examples: Examples, queries: Sequence[int], texts: Sequence[str], lists: Ints
) -> NDArray[np.bool_]:
    """No judged positive of a query, nor its duplicate by text, is ever a negative of it; the positive that
    stands for the query in this batch counts."""
    allowed = np.ones((len(queries), len(texts)), np.bool_)
    for row, query in enumerate(queries):
        positives = set(examples.texts_at(examples.positives.of(query)[0]))
        allowed[row] = [text not in positives for text in texts]
        allowed[row, lists[row, 0]] = True
    return allowed
