"""The retriever of both records: it builds an index, opens it, and searches it on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Hits, IndexPart, Ints, TermStatistics, Texts, Unit
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.search.topk import NOTHING, decode
from harness.toolkit.text import analysis
from harness_bm25 import BM25, QL, kernels, parts, scoring, storage, weights
from harness_bm25.building import build, cores, write
from harness_bm25.inverting import WINDOW
from harness_bm25.vocabulary import numbers_of, term_of


class TermScore(NamedTuple):
    """The contribution of one query term to a text's score."""

    term: str
    query_tf: float
    tf: float
    df: int
    weight: float  # the part of the query term: idf times its count in the query
    score: float


class Lexical:
    """A retriever by BM25 or query likelihood, as its parameters say."""

    def __init__(self, params: BM25 | QL, threads: int | None = None) -> None:
        self._params, self._threads = params, threads or cores()

    def index(self, texts: Texts, folder: Path) -> None:
        analyse = analysis.load(analysis.resolve(self._params.analyser, texts.language))
        build(texts, folder, analyse, self._params.title_weight, self._threads)

    block = WINDOW

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        """Analyses a range of texts. Inverting is quick and left to `join`."""
        analyse = analysis.load(analysis.resolve(self._params.analyser, texts.language))
        parts.write(texts, folder, analyse, self._params.title_weight > 0, self._threads, start, stop)

    def join(self, texts: Texts, ranges: Sequence[IndexPart], folder: Path) -> None:
        joined, positions = parts.Joined(ranges), list[NDArray[np.int64]]()
        batches, weight = joined.batches(positions), self._params.title_weight
        write(folder, batches, lambda: joined.terms, positions, weight, self._threads)

    def open(self, texts: Texts, folder: Path) -> Search:
        analyse = analysis.load(analysis.resolve(self._params.analyser, texts.language))
        return Search(storage.read(folder), analyse, self._params, self._threads, texts.unit)


class Search:
    """A searcher over an open index. Its results do not depend on the number of threads."""

    def __init__(
        self, index: storage.Index, analyse: analysis.Analyse, params: BM25 | QL, threads: int, unit: Unit
    ) -> None:
        self._index, self._analyse, self._params = index, analyse, params
        self._threads, self._unit = threads, unit
        table = weights.table(index, params)
        made = {"value": table.value, "tf": table.tf, "ceiling": weights.ceiling(index, table)}
        for array in made.values():
            array.flags.writeable = False  # as in mapped arrays; the compiled loops expect it
        arrays: dict[str, Any] = {**index._asdict(), **made, "kind": table.kind}
        self._postings = scoring.Postings(**{name: arrays[name] for name in scoring.Postings._fields})

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best texts of each query; equal scores are ordered by position. Without `within`, a hit has
        at least one term of its query. With `within`, indexed texts in it are hits, even of score 0."""
        return self._found(self._batch(queries), k, within)

    def search_terms(
        self, queries: Sequence[Mapping[str, float]], k: int, within: Ints | None = None
    ) -> Hits:
        """The k best texts, as by `search`, for queries of weighted terms."""
        return self._found(self._weighted(queries), k, within)

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        return [list(self._analyse(text)) for text in texts]

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        numbers = numbers_of(self._index, terms)
        known = numbers >= 0
        texts, occurrences = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.float64)
        texts[known] = weights.texts_with(self._index, numbers[known])
        occurrences[known] = self._index.occurrences[numbers[known]]
        size, total = len(self._index.positions), float(self._index.occurrences.sum())
        return TermStatistics(texts, occurrences, size, total)

    def _found(self, batch: scoring.Batch, k: int, within: Ints | None) -> Hits:
        queries = len(batch.first) - 1
        if within is None:
            depth, longest = min(k, len(self._index.positions)), int(np.diff(batch.first).max(initial=0))
            keys = np.empty((queries, depth), np.uint64)

            def work(a: int, z: int) -> None:
                kernels.search(self._postings, batch, a, z, keys, kernels.room(depth, longest))

            self._spread(queries, work)
        else:
            texts = rows_of(within, self._index.positions)
            keys = np.empty(texts.shape, np.uint64)

            def work(a: int, z: int) -> None:
                scoring.rescore(self._postings, batch, a, z, texts, keys, np.zeros(WINDOW, np.float32))

            self._spread(queries, work)
            keys.sort(axis=1)
            keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NOTHING  # a text that is named twice
        keys.sort(axis=1)
        return hits_of(*decode(keys[:, :k]), k, self._index.positions, self._unit)

    def explain(self, query: str, position: int) -> list[TermScore]:
        """The query terms that occur in the text at a position, the heaviest first."""
        text = int(rows_of(np.array([position]), self._index.positions)[0])
        if text < 0:
            return []
        batch, counts = self._batch([query]), self._counts(query)
        window = int(self._window_of(np.array([text]))[0])
        inside = text - int(self._index.window_first[window])
        scores = []
        for j, number in enumerate(batch.terms.tolist()):
            place = scoring.find(self._postings, number, window, inside)
            if place >= 0:
                tf = float(self._index.pair_tf[self._index.pair_first[window] + self._index.pairs[place]])
                name, df = term_of(self._index, number), weights.texts_with(self._index, np.array([number]))
                gain = scoring.term_score(self._postings, batch, j, window, inside)
                scores.append(
                    TermScore(name, counts[number], tf, int(df[0]), float(batch.weight[j]), float(gain))
                )
        return scores

    def _counts(self, query: str) -> dict[int, float]:
        """How often each known term of a query occurs in the query, by the term's number."""
        counts: dict[int, float] = {}
        terms = self._analyse(query)
        for number in numbers_of(self._index, terms).tolist():
            if number >= 0:
                counts[number] = counts.get(number, 0.0) + 1.0
        return counts

    def _batch(self, queries: Sequence[str]) -> scoring.Batch:
        analysed = [self._analyse(query) for query in queries]
        sizes = [len(terms) for terms in analysed]
        numbers = numbers_of(self._index, [term for terms in analysed for term in terms])
        owner, size = np.repeat(np.arange(len(queries)), sizes), max(len(self._index.occurrences), 1)
        known = (owner * size + numbers)[numbers >= 0]
        different, counts = np.unique(known, return_counts=True)
        return self._scored(len(queries), *np.divmod(different, size), counts.astype(np.float64))

    def _weighted(self, queries: Sequence[Mapping[str, float]]) -> scoring.Batch:
        owner = np.repeat(np.arange(len(queries)), [len(query) for query in queries])
        numbers = numbers_of(self._index, [term for query in queries for term in query])
        counts = np.array([weight for query in queries for weight in query.values()], np.float64)
        known = numbers >= 0
        return self._scored(len(queries), owner[known], numbers[known], counts[known])

    def _scored(
        self, queries: int, owner: NDArray[np.int64], terms: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> scoring.Batch:
        """The batch of queries from their different terms: term i belongs to query `owner[i]` and has the
        weight `counts[i]` in it."""
        worth = weights.terms(self._index, self._params, terms, counts)
        order = np.lexsort((terms, -worth.slope, -worth.weight, owner))
        first = np.searchsorted(np.sort(owner), np.arange(queries + 1)).astype(np.int64)
        return scoring.Batch(first, terms[order], worth.weight[order], worth.slope[order])

    def _spread(self, queries: int, work: Callable[[int, int], None]) -> None:
        """Runs `work(begin, end)` over all queries in equal parts, several parts to a thread."""
        parts = min(queries, 8 * self._threads)
        edges = np.linspace(0, queries, parts + 1).astype(int).tolist()
        if self._threads == 1 or queries < 2:
            work(0, queries)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(work, edges[:-1], edges[1:]))

    def _window_of(self, texts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._index.window_first, texts, "right").astype(np.int64) - 1
