"""The union of several runs as arrays: each pair once, with the rank that each run gave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.types import Hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Floats, Ints


class Pairs(NamedTuple):
    """n pairs, by query and best first within one."""

    query: Ints  # int64[n]: ascending
    passage: Ints  # int64[n]: positions
    ranks: NDArray[np.int32]  # int32[n, runs]: from 1; 0 where a run lacks the pair
    score: Floats | None  # float32[n]: what the pairs are ordered by, if by scores

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


def union(runs: Sequence[Hits], depth: int, size: int) -> Pairs:
    """The pairs of the first `depth` of each run, ordered by the best rank in any of them; at equal best
    ranks by how many runs have the pair, then by position. `size` is the number of passages."""
    codes, number, rank = [], [], []
    for which, hits in enumerate(runs):
        passages = np.asarray(hits.passages[:, :depth], np.int64)
        rows, columns = np.nonzero(passages >= 0)
        codes.append(rows * size + passages[rows, columns])
        number.append(np.full(len(rows), which))
        rank.append(columns + 1)
    flat = np.concatenate(codes)
    code, of = np.unique(flat, return_inverse=True)
    ranks = np.zeros((len(code), len(runs)), np.int32)
    ranks[of, np.concatenate(number)] = np.concatenate(rank)
    query, passage = code // size, code % size
    best = np.where(ranks > 0, ranks, np.iinfo(np.int32).max).min(axis=1, initial=np.iinfo(np.int32).max)
    order = np.lexsort((passage, -np.count_nonzero(ranks, axis=1), best, query))
    return Pairs(query[order], passage[order], ranks[order], None)


def rescored(pairs: Pairs, run: Hits, size: int) -> tuple[Pairs, int]:
    """The pairs in the order of another run's scores, and how many that run lacks: they are left out."""
    rows, columns = np.nonzero(np.asarray(run.passages) >= 0)
    codes = rows * size + np.asarray(run.passages)[rows, columns]
    order = np.argsort(codes, kind="stable")
    wanted = pairs.query * size + pairs.passage
    at = np.searchsorted(codes[order], wanted)
    at = np.minimum(at, max(len(codes) - 1, 0))
    there = codes[order][at] == wanted if len(codes) else np.zeros(len(wanted), np.bool_)
    scores = np.zeros(len(wanted), np.float32)
    scores[there] = np.asarray(run.scores)[rows, columns][order][at[there]]
    kept = Pairs(pairs.query, pairs.passage, pairs.ranks, scores).chosen(there)
    assert kept.score is not None
    by_score = np.lexsort((kept.passage, -kept.score, kept.query))
    return kept.chosen(by_score), int(np.count_nonzero(~there))  # type: ignore[arg-type]  # an order, too


def first(pairs: Pairs, top: int) -> Pairs:
    """The best pairs of each query."""
    return pairs.chosen(pairs.places <= top)
