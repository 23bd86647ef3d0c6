"""The sequential dependence model: a query's features, their weights, and the scores of candidates.

The weights .85, .10, .05 are those of the paper and of Anserini. The windows are the paper's, #1 and #uw8.
Anserini's windows are wider: one word may be between ordered words and eight between unordered ones.
Anserini smooths a window by the collection frequencies of its words. Here the collection frequency of the
window itself is counted exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Floats, Ints, Texts
from harness.toolkit.text import analysis
from harness_sdm import SdmParams, kernels, storage

THREADS = 2  # threads that share the queries; any number gives the same scores


@dataclass(frozen=True)
class Sdm:
    params: SdmParams

    def index(self, texts: Texts, folder: Path) -> None:
        storage.build(texts, folder, analysis.load(self.params.analyser))

    def open(self, texts: Texts, folder: Path | None) -> Scorer:
        assert folder is not None  # the record says `indexed`
        return Scorer(self.params, storage.load(folder), analysis.load(self.params.analyser))


class Features(NamedTuple):
    """The features of a query: its terms and adjacent pairs, each once, with their weights. A feature that
    the collection lacks is left out or has the weight 0, because it does not distinguish texts."""

    terms: NDArray[np.int32]  # int32[t]
    term_weight: NDArray[np.float64]  # float64[t]
    term_expected: NDArray[np.float64]  # float64[t]: mu cf / |C|
    pairs: NDArray[np.int32]  # int32[p, 2]: places in `terms`
    pair_weight: NDArray[np.float64]  # float64[p, 2]: for #1 and for #uw
    pair_expected: NDArray[np.float64]  # float64[p, 2]


class Scorer:
    """An open index of the re-ranker. A score depends only on the query, the passage and the collection."""

    def __init__(self, params: SdmParams, index: storage.Index, analyse: analysis.Analyse) -> None:
        self._params, self._index, self._analyse = params, index, analyse

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        scores = np.zeros(candidates.shape, np.float32)
        numbers = [[storage.number(self._index, term) for term in self._analyse(text)] for text in queries]
        rows = self._rows(candidates)
        pairs = np.unique([pair for query in numbers for pair in _pairs(query)] or np.empty((0, 2)), axis=0)
        with ThreadPoolExecutor(THREADS) as pool:
            counts = np.concatenate(list(pool.map(self._count, np.array_split(pairs, THREADS))))
            known = {(left, right): both for (left, right), both in zip(pairs.tolist(), counts, strict=True)}

            def one(query: int) -> None:
                features = self._features(numbers[query], known)
                self._score(features, rows[query], scores[query])

            list(pool.map(one, range(len(queries))))
        return scores

    def _score(self, features: Features, rows: Ints, scores: Floats) -> None:
        kernels.score(
            self._index.tokens,
            self._index.bounds,
            rows,
            features.terms,
            features.term_weight,
            features.term_expected,
            features.pairs,
            features.pair_weight,
            features.pair_expected,
            self._params.window,
            self._params.mu,
            scores,
        )

    def _rows(self, candidates: Ints) -> Ints:
        """int64[Q, n]: the number of each candidate's text in the index, or -1 for none."""
        positions = self._index.positions
        filled = candidates >= 0
        rows = np.where(filled, np.searchsorted(positions, candidates), -1)
        known = np.zeros(candidates.shape, np.bool_)
        inside = filled & (rows < len(positions))
        known[inside] = positions[rows[inside]] == candidates[inside]
        if (filled & ~known).any():
            raise ValueError(f"position {candidates[filled & ~known][0]} is not in the index")
        return rows

    def _count(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[P, 2]: the collection frequencies of each pair of terms as #1 and as #uw."""
        counts = np.zeros((len(pairs), 2), np.int64)
        kernels.count_pairs(
            self._index.tokens,
            self._index.bounds,
            self._index.starts,
            self._index.occurrences,
            np.ascontiguousarray(pairs, np.int32),
            self._params.window,
            counts,
        )
        return counts

    def _features(self, query: list[int], known: dict[tuple[int, int], NDArray[np.int64]]) -> Features:
        params, index = self._params, self._index
        per_count = params.mu / max(len(index.tokens), 1)
        terms, times = np.unique([term for term in query if term >= 0], return_counts=True)
        terms = terms.astype(np.int32)
        neighbours, pair_times = np.unique(_pairs(query) or np.empty((0, 2)), axis=0, return_counts=True)
        neighbours = neighbours.astype(np.int32)
        counts = [known[left, right] for left, right in neighbours.tolist()]
        features = np.array(counts, np.float64).reshape(-1, 2)
        weights = pair_times[:, None] * np.array([params.ordered, params.unordered])
        return Features(
            terms,
            (times * params.terms).astype(np.float64),
            (index.starts[terms + 1] - index.starts[terms]) * per_count,
            np.searchsorted(terms, neighbours).astype(np.int32),
            np.where(features > 0, weights, 0.0),
            np.where(features > 0, features * per_count, 1.0),
        )


def _pairs(query: list[int]) -> list[tuple[int, int]]:
    """The pairs of adjacent terms of a query. A pair with a term that the collection lacks is left out."""
    return [(left, right) for left, right in pairwise(query) if left >= 0 and right >= 0]
