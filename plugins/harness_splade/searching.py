"""Searches an impact index: queries become rows of terms, and the best texts of each are found exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from harness.plugin import JSON, Hits, Ints, Unit
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.neural import hardware
from harness.toolkit.neural.tokens import Lost
from harness.toolkit.search.topk import NOTHING, decode
from harness_splade import kernels, storage
from harness_splade.storage import Row

Encode: TypeAlias = Callable[[Sequence[str]], tuple[list[Row], Lost]]


class Search:
    """An open index. The results of a query depend neither on the number of threads nor on other queries."""

    def __init__(self, index: storage.Index, encode: Encode, unit: Unit, threads: int | None = None) -> None:
        self._index, self._encode, self._unit = index, encode, unit
        self._threads = threads or hardware.threads()
        self._lost = Lost()

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best texts of each query, with equal scores ordered by position. Without `within`, a hit has
        at least one term of its query. With `within`, indexed texts in it are hits, even of score 0."""
        encoded = self._queries(queries)
        if within is None:
            depth = min(k, len(self._index.positions))
            keys = np.empty((len(queries), depth), np.uint64)

            def work(begin: int, end: int) -> None:
                kernels.search(self._index.postings, encoded, begin, end, keys, kernels.room(depth))
        else:
            texts = rows_of(within, self._index.positions)
            windows = np.searchsorted(self._index.postings.first, texts, "right").astype(np.int64) - 1
            keys = np.empty(texts.shape, np.uint64)

            def work(begin: int, end: int) -> None:
                kernels.rescore(self._index.postings, encoded, begin, end, windows, texts, keys)

        self._spread(len(queries), work)
        keys.sort(axis=1)
        if within is not None:
            keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NOTHING  # texts that `within` names twice
            keys.sort(axis=1)
        return hits_of(*decode(keys[:, :k]), k, self._index.positions, self._unit)

    counts = True  # `report` returns only counts

    def report(self) -> dict[str, JSON]:
        return {"queries_cut": self._lost.texts, "query_tokens_lost": self._lost.tokens}

    def _queries(self, queries: Sequence[str]) -> kernels.Queries:
        """The terms and weights of the queries. The terms of a query are ordered by falling weight, and their
        shares of a score are added in this order."""
        encoded, lost = self._encode(queries)
        self._lost = self._lost.plus(lost)
        rows = [self._rounded(row) for row in encoded]
        sizes = [len(row.terms) for row in rows]
        terms = np.concatenate([*(row.terms for row in rows), np.empty(0, np.int32)])
        weights = np.concatenate([*(row.weights for row in rows), np.empty(0, np.float32)])
        order = np.lexsort((terms, -weights, np.repeat(np.arange(len(rows)), sizes)))
        first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        return kernels.Queries(first, terms[order].astype(np.int32), weights[order].astype(np.float32))

    def _rounded(self, row: Row) -> Row:
        if self._index.quantise is None:
            return row
        weights = np.rint(row.weights * np.float32(self._index.quantise))
        return Row(row.terms[weights > 0], weights[weights > 0])

    def _spread(self, queries: int, work: Callable[[int, int], None]) -> None:
        """Run `work(begin, end)` over all queries. Each thread gets several equal parts."""
        edges = np.linspace(0, queries, min(queries, 8 * self._threads) + 1).astype(int).tolist()
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(work, edges[:-1], edges[1:]))
