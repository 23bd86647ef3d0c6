"""Makers that choose what to judge next: uncertain pairs, failed queries, a sample of errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Hits, Ints, Made, MakerInput, judging
from harness_pooling import ActiveParams, ErrorsParams, HardParams, pairs
from harness_pooling.pairs import Pairs
from harness_pooling.pool import grades_of, write_pool


class ActiveSample:
    """Writes a pool of the unjudged pairs whose score lies between two thresholds (T2Ranking, algorithm 1).
    A pair below the lower threshold is hopeless, and a pair above the upper one is confident."""

    def __init__(self, params: ActiveParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        params = self._params
        run = data.runs[params.of]
        pooled, _ = pairs.rescored(pairs.union([run], params.depth), run, data.corpus.passages)
        open_ = np.array([grade is None for grade in grades_of(data, pooled)], np.bool_)
        data.tally.drop("pairs", "judged already", count=int((~open_).sum()))
        pooled = pooled.chosen(open_)
        assert pooled.score is not None
        lower, upper = between(pooled.score, params)
        hopeless, confident = pooled.score < lower, pooled.score > upper
        data.tally.note("thresholds", [round(lower, 6), round(upper, 6)])
        data.tally.drop("pairs", "below the lower threshold", count=int(hopeless.sum()))
        data.tally.drop("pairs", "above the upper threshold", count=int(confident.sum()))
        pooled = pooled.chosen(~hopeless & ~confident)
        if params.take is not None and len(pooled.query) > params.take:
            rows = np.random.default_rng(params.seed).permutation(len(pooled.query))[: params.take]
            data.tally.drop("pairs", "not drawn", count=len(pooled.query) - params.take)
            mask = np.zeros(len(pooled.query), np.bool_)
            mask[rows] = True
            pooled = pooled.chosen(mask)
        write_pool(data, pooled, [None] * len(pooled.query), [params.of], params.depth, params.of)
        return Made()


def between(scores: NDArray[np.float32], params: ActiveParams) -> tuple[float, float]:
    """The two thresholds as scores. The parameters give them as scores, or as quantiles of `scores`."""
    if not params.quantiles or not len(scores):
        return params.lower, params.upper
    low, high = np.quantile(scores, (params.lower, params.upper))
    return float(low), float(high)


class HardQueries:
    """Keeps the queries for which no given system has a positive among its first results (DAPR, 3.1). The
    collection then has only these queries. The pool has their positives, for people to label."""

    def __init__(self, params: HardParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        judged = judging(data.corpus, data.queries, data.judgements).judged
        good = (judged.grade > 0) & (judged.passage < data.corpus.passages)
        positive = np.zeros(len(data.queries.ids), np.bool_)
        positive[judged.query[good]] = True
        runs = [data.runs[name] for name in self._params.of]
        hard = positive & ~found(runs, judged.query[good], judged.passage[good], self._params.depth)
        ids = {data.queries.ids[row] for row in np.flatnonzero(hard).tolist()}
        for row, query in enumerate(data.asked()):
            if query.id not in ids:
                why = "some system finds a positive" if positive[row] else "without a positive"
                data.tally.drop("queries", why, query.text)
        chosen = good & hard[judged.query]
        queries, passages = judged.query[chosen].astype(np.int64), judged.passage[chosen]
        order = np.lexsort((passages, queries))
        pooled = _ranked(runs, queries[order], passages[order])
        write_pool(data, pooled, grades_of(data, pooled), list(self._params.of), self._params.depth, None)
        return Made(
            queries=[item for item in data.asked() if item.id in ids],
            judgements=[item for item in data.judged() if item.query in ids],
        )


def found(runs: Sequence[Hits], query: NDArray[np.int32], passage: Ints, depth: int) -> NDArray[np.bool_]:
    """bool[queries]: whether any run has one of the query's positives among its first `depth` results.
    `query` and `passage` are the pairs of a query and a positive."""
    rows = np.zeros(max((len(run.passages) for run in runs), default=0), np.bool_)
    for run in runs:
        hit = (np.asarray(run.passages)[query, :depth] == passage[:, None]).any(axis=1)
        rows[query[hit]] = True
    return rows


def _ranked(runs: Sequence[Hits], query: Ints, passage: Ints) -> Pairs:
    """The pairs of `query` and `passage` with the ranks that the runs gave them."""
    ranks = np.zeros((len(query), len(runs)), np.int32)
    for number, run in enumerate(runs):
        same = np.asarray(run.passages)[query] == passage[:, None]
        ranks[:, number] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return Pairs(query, passage, ranks, None)


class SampleErrors:
    """Writes a pool of errors (DuReader-retrieval, 3.5): a seeded sample of the queries whose first results
    contain no positive, with these results. People then label why each result is wrong."""

    def __init__(self, params: ErrorsParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        params = self._params
        run = data.runs[params.of]
        judged = judging(data.corpus, data.queries, data.judgements).judged
        good = (judged.grade > 0) & (judged.passage < data.corpus.passages)
        hit = found([run], judged.query[good], judged.passage[good], params.top)
        judged_queries = np.unique(judged.query[good])
        failed = judged_queries[~hit[judged_queries]]
        data.tally.note("queries whose first results hold no positive", len(failed))
        drawn = np.sort(np.random.default_rng(params.seed).permutation(failed)[: params.queries])
        pooled = pairs.union([run], params.top)
        pooled = pooled.chosen(np.isin(pooled.query, drawn))
        write_pool(data, pooled, grades_of(data, pooled), [params.of], params.top, None)
        return Made()
