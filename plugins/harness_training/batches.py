"""Draws the batches of a training. The seed and the step determine a batch, so no order is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Examples, Floats, Ints, Pool

Draw = Literal["sample", "stride"]
DRAWN = ALL = -1  # a positive that each epoch draws; all negatives that an epoch draws
NONE = -2  # no negative


class Instances(NamedTuple):
    """The lists of an epoch. Each is of one query and occurs once."""

    query: Ints  # int64[n]
    positive: Ints  # int64[n]: its place among the positives of the query, or DRAWN
    negative: Ints  # int64[n]: its place among the negatives that an epoch draws, or ALL, or NONE
    undenoised: NDArray[np.bool_]  # bool[n]: whether the list has judged positives and undenoised negatives


class Batch(NamedTuple):
    """Some queries with a list of passages each. The first of a list is the positive, if it has one."""

    queries: list[str]
    texts: list[str]  # P: the distinct passages of all lists
    lists: Ints  # int64[Q, L]: places in `texts`; -1 fills a short list
    scores: Floats  # float32[Q, L]: the scores of the run that the negatives come from; NaN where it has none
    allowed: NDArray[np.bool_]  # bool[Q, P]: whether the passage may be compared as a negative of the query
    relevant: NDArray[np.bool_]  # bool[Q, L]: which of the list's passages is the positive
    titles: list[str] | None = None  # P; None: no titles are read


def usable(examples: Examples, scored: bool = False) -> Ints:
    """The queries that have a positive; with `scored`, only those with a scored positive, as by a teacher."""
    kept = []
    for query in range(len(examples.queries)):
        scores = examples.positives.scores[slice(*examples.positives.bounds[query : query + 2])]
        if len(scores) and not (scored and np.isnan(scores).all()):
            kept.append(query)
    return np.array(kept, np.int64)


def has_scored_negative(examples: Examples) -> bool:
    pools = [examples.negatives, *([] if examples.undenoised is None else [examples.undenoised])]
    return any(not np.isnan(pool.scores).all() for pool in pools)


def each_query(queries: Ints) -> Instances:
    """One list for each query."""
    whole = np.full(len(queries), DRAWN)
    return Instances(queries, whole, whole, np.zeros(len(queries), np.bool_))


def instances_of(examples: Examples, unit: str, single: bool = False, scored: bool = False) -> Instances:
    """The lists of an epoch by their unit: `query`, `positive` or `pair`. A pair is a positive with one of
    its negatives or, with `single`, a query with one passage. Undenoised lists that stand apart follow."""
    queries = usable(examples, scored)
    if unit == "query":
        made = each_query(queries)
        if not examples.apart:
            return made
        query, positive, negative = (np.concatenate([part, part]) for part in made[:3])
        return Instances(query, positive, negative, np.arange(2 * len(queries)) >= len(queries))
    lists: list[tuple[int, int, int, bool]] = []
    for apart in (False, True) if examples.apart else (False,):
        good, bad = _pools(examples, apart)
        for query in queries.tolist():
            count = min(examples.take, int(bad.bounds[query + 1] - bad.bounds[query]))
            members = (
                [ALL] if unit == "positive" else [*([NONE] if single or not count else []), *range(count)]
            )
            for place in _open(good, query, scored).tolist():
                lists += [(query, place, member, apart) for member in members]
    query, positive, negative, undenoised = np.array(lists, np.int64).reshape(-1, 4).T
    return Instances(query, positive, negative, undenoised.astype(np.bool_))


def steps_of(instances: int, batch: int, epochs: int) -> int:
    return epochs * -(-instances // batch)


def batch_of(
    examples: Examples,
    instances: Instances,
    step: int,
    *,
    size: int,
    negatives: int,
    seed: int,
    draw: Draw = "sample",
    scored: bool = False,
    single: bool = False,
    others: int = 0,
) -> Batch:
    """The batch of a step. The batch depends only on these arguments. With `others`, each list gets as many
    passages of other lists at most, as further negatives."""
    total = len(instances.query)
    epoch, at = divmod(step, -(-total // size))
    order = np.random.default_rng([seed, epoch]).permutation(total)
    chosen = order[at * size : (at + 1) * size]
    paired = bool((instances.negative != ALL).any())
    width = 1 + (negatives if not paired else 0 if single else 1)
    lists = np.full((len(chosen), width), -1, np.int64)
    scores = np.full(lists.shape, np.nan, np.float32)
    relevant = np.zeros(lists.shape, np.bool_)
    for row, number in enumerate(chosen.tolist()):
        query, positive, member, apart = (int(part[number]) for part in instances)
        kind = [] if positive == DRAWN and not apart else [positive + 1, apart]
        chance = np.random.default_rng([seed, epoch, query, *kind])
        pool, _ = _pools(examples, bool(apart))
        good, good_scores = pool.of(query)
        first = chance.choice(_open(pool, query, scored)) if positive == DRAWN else positive
        passages, values = _drawn_negatives(examples, query, negatives, epoch, chance, draw, bool(apart))
        if member != ALL:
            only = slice(member, member + 1) if member >= 0 else slice(0)
            passages, values = passages[only], values[only]
        if not (single and member >= 0):
            passages = np.concatenate([good[first : first + 1], passages])
            values = np.concatenate([good_scores[first : first + 1], values])
            relevant[row, 0] = True
        lists[row, : len(passages)], scores[row, : len(passages)] = passages, values
    positions, places = np.unique(lists[lists >= 0], return_inverse=True)
    lists[lists >= 0] = places
    texts = examples.texts_at(positions)
    rows = instances.query[chosen].tolist()
    judged = [_pools(examples, bool(apart))[0] for apart in instances.undenoised[chosen]]
    allowed = _allowed(examples, judged, rows, texts, lists, relevant)
    made = Batch(
        [examples.queries[query] for query in rows], texts, lists, scores, allowed, relevant,
        None if examples.titles_at is None else examples.titles_at(positions),
    )  # fmt: skip
    return with_others(made, others, np.random.default_rng([seed, epoch, at])) if others else made


def with_others(batch: Batch, most: int, chance: np.random.Generator) -> Batch:
    """The batch with at most `most` passages of other lists at the end of each list, drawn at random. They
    are negatives: no positive of the query is among them."""
    more = np.full((len(batch.lists), most), -1, np.int64)
    for row, places in enumerate(batch.lists):
        open_ = np.setdiff1d(np.flatnonzero(batch.allowed[row]), places)
        taken = np.sort(chance.permutation(open_)[:most])
        more[row, : len(taken)] = taken
    silent = np.full(more.shape, np.nan, np.float32)
    return batch._replace(
        lists=np.concatenate([batch.lists, more], axis=1),
        scores=np.concatenate([batch.scores, silent], axis=1),
        relevant=np.concatenate([batch.relevant, np.zeros(more.shape, np.bool_)], axis=1),
    )


def within(batch: Batch, shares: Sequence[int]) -> NDArray[np.bool_]:
    """bool[Q, P]: the passages that count for each query if the queries are divided into shares. A query is
    compared only with the passages of the queries of its share. `shares` has each query's share, from 0."""
    held = np.zeros((max(shares) + 1, len(batch.texts)), np.bool_)
    for share, places in zip(shares, batch.lists, strict=True):
        held[share, places[places >= 0]] = True
    return batch.allowed & held[list(shares)]


def _pools(examples: Examples, undenoised: bool) -> tuple[Pool, Pool]:
    """The positives and negatives of the lists of one kind."""
    if undenoised:
        assert examples.judged is not None
        assert examples.undenoised is not None
        return examples.judged, examples.undenoised
    return examples.positives, examples.negatives


def _open(good: Pool, query: int, scored: bool) -> Ints:
    """The places of the positives of a query that may be drawn."""
    _, scores = good.of(query)
    return np.flatnonzero(~np.isnan(scores)) if scored else np.arange(len(scores))


def _drawn_negatives(
    examples: Examples, query: int, wanted: int, epoch: int, chance: np.random.Generator, draw: Draw,
    undenoised: bool = False,
) -> tuple[Ints, Floats]:  # fmt: skip
    """The negatives of a query in one epoch, and their scores. If undenoised negatives are mixed in, a share
    of the negatives is drawn from them, and the rest from the denoised ones. No negative is drawn twice."""
    bad, scores = _pools(examples, undenoised)[1].of(query)
    raw, raw_scores = bad[:0], scores[:0]
    if examples.undenoised is not None and not examples.apart:
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
    examples: Examples, positives: Sequence[Pool], queries: Sequence[int], texts: Sequence[str], lists: Ints,
    relevant: NDArray[np.bool_],
) -> NDArray[np.bool_]:  # fmt: skip
    """bool[Q, P]: which passages count for a query. A positive of the query, or a passage with the same text,
    is never a negative of the query. Of its positives, only the one in its list counts."""
    allowed = np.ones((len(queries), len(texts)), np.bool_)
    for row, query in enumerate(queries):
        known = set(examples.texts_at(positives[row].of(query)[0]))
        allowed[row] = [text not in known for text in texts]
        allowed[row, lists[row][relevant[row]]] = True
    return allowed
