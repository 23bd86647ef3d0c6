"""The retriever behind the records: builds an index, opens it, and searches it on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.contracts import Texts
from harness.toolkit import analysis
from harness.types import Hits
from harness_bm25 import BM25, QL, kernels, storage, weights
from harness_bm25.building import build, cores
from harness_bm25.vocabulary import numbers_of, term_of

if TYPE_CHECKING:
    from harness.types import Ints

NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)  # the key of a place that stays empty


class TermScore(NamedTuple):
    """Why a text has its score: one term of the query that it has."""

    term: str
    query_tf: float
    tf: float
    df: int
    weight: float  # the term's own: idf times its count in the query
    score: float


class Lexical:
    """BM25 or query likelihood, by its parameters."""

    def __init__(self, params: BM25 | QL, threads: int | None = None) -> None:
        self._params, self._threads = params, threads or cores()

    def index(self, texts: Texts, folder: Path) -> None:
        analyse = analysis.load(analysis.resolve(self._params.analyser, texts.language))
        build(texts, folder, analyse, self._params.title_weight, self._threads)

    def open(self, texts: Texts, folder: Path) -> Search:
        analyse = analysis.load(analysis.resolve(self._params.analyser, texts.language))
        return Search(storage.read(folder), analyse, self._params, self._threads)


class Search:
    """An open index. Its results do not depend on the number of threads."""

    def __init__(
        self, index: storage.Index, analyse: analysis.Analyse, params: BM25 | QL, threads: int
    ) -> None:
        self._index, self._analyse, self._params, self._threads = index, analyse, params, threads
        table = weights.table(index, params)
        self._bound = weights.bound(table)
        shared = {name: getattr(index, name) for name in kernels.Postings._fields if name in index._fields}
        self._postings = kernels.Postings(
            **shared, kind=table.kind, value=_frozen(table.value), tf=_frozen(table.tf)
        )

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best texts of each query, equal scores by position. Without `within` a hit has at least
        one term of its query; with it every named text that is indexed is a hit, if only with a score of 0."""
        batch = self._batch(queries)
        if within is None:
            keys = np.empty((len(queries), min(k, len(self._index.positions))), np.uint64)
            self._spread(len(queries), lambda a, z: kernels.search(self._postings, batch, a, z, keys))
        else:
            texts = self._texts_at(within)
            keys = np.empty(texts.shape, np.uint64)
            self._spread(len(queries), lambda a, z: kernels.rescore(self._postings, batch, a, z, texts, keys))
            keys.sort(axis=1)
            keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NOTHING  # named twice
        keys.sort(axis=1)
        return self._hits(keys[:, :k], k)

    def explain(self, query: str, position: int) -> list[TermScore]:
        """The terms of the query that the text at a position has, the heaviest first."""
        text = int(self._texts_at(np.array([[position]], np.int64))[0, 0])
        if text < 0:
            return []
        batch, counts = self._batch([query]), self._counts(query)
        scores = []
        for j, number in enumerate(batch.terms.tolist()):
            place = kernels.find(self._postings, number, text)
            if place >= 0:
                window = np.searchsorted(self._index.window_first, text, "right") - 1
                tf = float(self._index.pair_tf[self._index.pair_first[window] + self._index.pairs[place]])
                name, df = term_of(self._index, number), weights.texts_with(self._index, np.array([number]))
                gain = kernels.term_score(self._postings, batch, j, text)
                scores.append(
                    TermScore(name, counts[number], tf, int(df[0]), float(batch.weight[j]), float(gain))
                )
        return scores

    def _counts(self, query: str) -> dict[int, float]:
        """The numbers of a query's known terms and how often each occurs in it."""
        counts: dict[int, float] = {}
        terms = self._analyse(query)
        for number in numbers_of(self._index, terms).tolist():
            if number >= 0:
                counts[number] = counts.get(number, 0.0) + 1.0
        return counts

    def _batch(self, queries: Sequence[str]) -> kernels.Batch:
        found = [self._analyse(query) for query in queries]
        sizes = [len(terms) for terms in found]
        numbers = numbers_of(self._index, [term for terms in found for term in terms])
        owner = np.repeat(np.arange(len(queries)), sizes)[numbers >= 0]
        pairs = np.stack([owner, numbers[numbers >= 0]])
        (owner, terms), counts = np.unique(pairs, axis=1, return_counts=True)
        worth = weights.terms(self._index, self._params, terms, counts.astype(np.float64))
        bound = self._bound(worth)
        order = np.lexsort((terms, -bound, owner))
        first = np.searchsorted(owner, np.arange(len(queries) + 1)).astype(np.int64)
        return kernels.Batch(first, terms[order], worth.weight[order], worth.slope[order], bound[order])

    def _spread(self, queries: int, work: object) -> None:
        """Run `work(begin, end)` over all queries in equal parts, several to a thread."""
        parts = min(queries, 8 * self._threads)
        edges = np.linspace(0, queries, parts + 1).astype(int).tolist()
        if self._threads == 1 or queries < 2:
            work(0, queries)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(work, edges[:-1], edges[1:]))

    def _texts_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the text at each position, -1 where none is indexed."""
        known = self._index.positions
        if not len(known):
            return np.full(positions.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(known, positions), len(known) - 1)
        return np.where(known[place] == positions, place, -1)

    def _hits(self, keys: NDArray[np.uint64], k: int) -> Hits:
        passages = np.full((len(keys), k), -1, np.int64)
        scores = np.zeros((len(keys), k), np.float32)
        found = keys != NOTHING
        width = keys.shape[1]
        passages[:, :width][found] = self._index.positions[
            (keys[found] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        ]
        bits = np.uint32(0xFFFFFFFF) - (keys[found] >> np.uint64(32)).astype(np.uint32)
        scores[:, :width][found] = bits.view(np.float32)
        return Hits(passages, scores)


def _frozen(array: NDArray[np.float32]) -> NDArray[np.float32]:
    array.flags.writeable = False  # the compiled loops take every array as read only, mapped or not
    return array
