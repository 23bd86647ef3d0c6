"""Draws the batches of a training. The seed and the step determine a batch, so no order is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from harness.plugin import Examples, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray


Draw = Literal["sample", "stride"]


class Batch(NamedTuple):
    """Some queries with a list of passages each. The first passage of a list is the positive."""

    queries: list[str]
    texts: list[str]  # P: the distinct passages of all lists
    lists: Ints  # int64[Q, L]: places in `texts`; -1 fills a short list
    scores: Floats  # float32[Q, L]: the scores of the run that the negatives come from; NaN where it has none
    allowed: NDArray[np.bool_]  # bool[Q, P]: whether the passage may be compared as a negative of the query


def usable(examples: Examples, scored: bool = False) -> Ints:
    """The queries that have a positive; with `scored`, only queries with a positive that has a score, such as
    that of a teacher."""
    kept = []
    for query in range(len(examples.queries)):
        scores = examples.positives.scores[slice(*examples.positives.bounds[query : query + 2])]
        if len(scores) and not (scored and np.isnan(scores).all()):
            kept.append(query)
    return np.array(kept, np.int64)


def has_scored_negative(examples: Examples) -> bool:
    pools = [examples.negatives, *([] if examples.undenoised is None else [examples.undenoised])]
    return any(not np.isnan(pool.scores).all() for pool in pools)


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
    """The batch of a step. The batch depends only on these arguments."""
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


def within(batch: Batch, shares: Sequence[int]) -> NDArray[np.bool_]:
    """bool[Q, P]: the passages that count for each query if the queries are divided into shares. A query is
    compared only with the passages of the queries of its share. `shares` has the number of each query's
    share, counted from 0."""
    held = np.zeros((max(shares) + 1, len(batch.texts)), np.bool_)
    for share, places in zip(shares, batch.lists, strict=True):
        held[share, places[places >= 0]] = True
    return batch.allowed & held[list(shares)]


def _drawn_negatives(
    examples: Examples, query: int, wanted: int, epoch: int, chance: np.random.Generator, draw: Draw
) -> tuple[Ints, Floats]:
    """The negatives of a query in one epoch, and their scores. In RocketQAv2's hybrid augmentation (Ren et
    al. 2021, section 3.3), a share of the negatives is drawn from the undenoised ones, and the rest from the
    denoised ones. No negative is drawn twice."""
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
    """The places that one epoch draws from a pool of `pool` negatives, best first. They are drawn at random
    without repetition, or by T2Ranking's stride: `pool[offset::interval]` with interval = pool // wanted and
    offset = epoch modulo interval. A pool with fewer than `wanted` negatives gives all of its places."""
    if pool <= wanted or not wanted:
        return np.arange(min(pool, wanted))
    if draw == "sample":
        return np.sort(chance.choice(pool, wanted, replace=False))
    interval = pool // wanted
    return np.arange(epoch % interval, pool, interval)[:wanted]


def _allowed(
    examples: Examples, queries: Sequence[int], texts: Sequence[str], lists: Ints
) -> NDArray[np.bool_]:
    """bool[Q, P]: which passages count for a query. A judged positive of the query, or a passage with the
    same text, is never a negative of the query. Of its positives, only the one in its list counts."""
    allowed = np.ones((len(queries), len(texts)), np.bool_)
    for row, query in enumerate(queries):
        positives = set(examples.texts_at(examples.positives.of(query)[0]))
        allowed[row] = [text not in positives for text in texts]
        allowed[row, lists[row, 0]] = True
    return allowed
