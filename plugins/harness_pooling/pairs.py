"""The union of several runs as arrays. Each pair is in it once, with the rank that each run gave it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from harness.plugin import Floats, Hits, Ints


class Pairs(NamedTuple):
    """n pairs of a query and a passage, sorted by query; the best pair of a query comes first."""

    query: Ints  # int64[n]: rows of queries, ascending
    passage: Ints  # int64[n]: positions of passages
    ranks: NDArray[np.int32]  # int32[n, runs]: from 1; 0 where a run lacks the pair
    score: Floats | None  # float32[n]: the scores by which the pairs are sorted; None if sorted by ranks

    @property
    def places(self) -> Ints:
        """int64[n]: the place of each pair in its query's pool, from 1."""
        first = np.searchsorted(self.query, self.query)
        return np.arange(len(self.query)) - first + 1

    def chosen(self, rows: NDArray[np.bool_]) -> Pairs:
        return Pairs(
            self.query[rows],
            self.passage[rows],
            self.ranks[rows],
            None if self.score is None else self.score[rows],
        )


def union(runs: Sequence[Hits], depth: int) -> Pairs:
    """The pairs of the first `depth` hits of each run. The pairs of a query are sorted by their best rank in
    any run; at equal best ranks, pairs that more runs have come first, then the lower position."""
    queries = max((len(hits.passages) for hits in runs), default=0)
    stacked = np.full((len(runs), queries, depth), -1, np.int64)
    for which, hits in enumerate(runs):
        rows = hits.passages[:, :depth]
        stacked[which, :, : rows.shape[1]] = rows
    counts = _kernels()[0](stacked)
    starts = np.cumsum([0, *counts.tolist()], dtype=np.int64)
    passage = np.empty(starts[-1], np.int64)
    ranks = np.zeros((starts[-1], len(runs)), np.int32)
    _kernels()[1](stacked, starts, passage, ranks)
    return Pairs(np.repeat(np.arange(queries, dtype=np.int64), counts), passage, ranks, None)


@functools.cache
def _kernels() -> Any:
    """The functions `counted` and `merged`, compiled when they are first used."""

    @njit(cache=True)
    def counted(stacked: Any) -> Any:
        """int64[queries]: how many passages the runs have. `stacked` is int64[runs, queries, depth]."""
        counts = np.zeros(stacked.shape[1], np.int64)
        for query in range(stacked.shape[1]):
            positions = np.sort(stacked[:, query, :].copy().ravel())
            for i in range(len(positions)):
                if positions[i] >= 0 and (i == 0 or positions[i] != positions[i - 1]):
                    counts[query] += 1
        return counts

    @njit(cache=True)
    def merged(stacked: Any, starts: Any, passage: Any, ranks: Any) -> None:
        """Write each query's passages in order to `passage`, and their rank in each run to `ranks`."""
        runs, queries, depth = stacked.shape
        for query in range(queries):
            flat = stacked[:, query, :].copy().ravel()
            order = np.argsort(flat, kind="mergesort")
            size = starts[query + 1] - starts[query]
            names = np.empty(size, np.int64)
            best = np.full(size, depth + 1, np.int64)
            times = np.zeros(size, np.int64)
            rank_in_run = np.zeros((size, runs), np.int32)
            at = -1
            for i in range(len(order)):
                cell = order[i]
                if flat[cell] < 0:
                    continue
                if at < 0 or names[at] != flat[cell]:
                    at += 1
                    names[at] = flat[cell]
                rank = cell % depth + 1
                rank_in_run[at, cell // depth] = rank
                best[at] = min(best[at], rank)
                times[at] += 1
            place = np.argsort(best * (runs + 1) - times, kind="mergesort")
            for i in range(size):
                passage[starts[query] + i] = names[place[i]]
                ranks[starts[query] + i] = rank_in_run[place[i]]

    return counted, merged


def rescored(pairs: Pairs, run: Hits, size: int) -> tuple[Pairs, int]:
    """The pairs sorted by the scores of another run, and how many pairs are left out because that run lacks
    them. `size` is the number of passages of the corpus."""
    rows, columns = np.nonzero(np.asarray(run.passages) >= 0)
    codes = rows * size + np.asarray(run.passages)[rows, columns]
    order = np.argsort(codes, kind="stable")
    wanted = pairs.query * size + pairs.passage
    at = np.searchsorted(codes[order], wanted)
    at = np.minimum(at, max(len(codes) - 1, 0))
    is_in_run = codes[order][at] == wanted if len(codes) else np.zeros(len(wanted), np.bool_)
    scores = np.zeros(len(wanted), np.float32)
    scores[is_in_run] = np.asarray(run.scores)[rows, columns][order][at[is_in_run]]
    kept = Pairs(pairs.query, pairs.passage, pairs.ranks, scores).chosen(is_in_run)
    assert kept.score is not None
    by_score = np.lexsort((kept.passage, -kept.score, kept.query))
    return kept.chosen(by_score), int(np.count_nonzero(~is_in_run))  # type: ignore[arg-type]  # an order, too


def first(pairs: Pairs, top: int) -> Pairs:
    """The best `top` pairs of each query."""
    return pairs.chosen(pairs.places <= top)
