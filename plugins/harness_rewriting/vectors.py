"""Rewrites queries by Rocchio feedback on vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.plugin import Hits, Rewritten, Searcher, Texts, VectorSearcher
from harness_rewriting import RocchioParams


class Rocchio:
    def __init__(self, params: RocchioParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Write nothing, because feedback reads the retriever's index."""

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Moved:
        assert isinstance(searcher, VectorSearcher)
        return Moved(self._params, searcher)


class Moved:
    def __init__(self, params: RocchioParams, searcher: VectorSearcher) -> None:
        self._params, self._searcher = params, searcher

    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        """The vectors alpha * q + beta * (the mean vector of the query's first hits). This is Rocchio 1971
        without the part of irrelevant documents (Li et al. 2022, "Pseudo relevance feedback with deep
        language models and dense retrievers", equation 6)."""
        assert feedback is not None
        vectors = self._searcher.encode(queries)  # float32[Q, d]
        alpha, beta = self._params.alpha, self._params.beta
        for i, positions in enumerate(feedback.passages):
            filled = positions[positions >= 0][: self._params.documents]
            if len(filled):
                mean = self._searcher.vectors(filled).mean(axis=0, dtype=np.float64)
                vectors[i] = alpha * vectors[i] + beta * mean
        return Rewritten(vectors=vectors.astype(np.float32))
