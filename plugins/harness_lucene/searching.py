"""Searches Lucene indexes within Java: all queries of a call at once, on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Hits, Ints, Unit
from harness_lucene import LuceneBM25, LuceneQL, handles
from harness_lucene.runtime import Java
from harness_lucene.writing import CONTENTS, LUCENE, OBJECT, TITLE

HITS = 1_000_000  # hits kept in Java at once
TOP = f"{LUCENE}.search.TopDocs"
QUERY, SEARCHER = f"{LUCENE}.search.Query", f"{LUCENE}.search.IndexSearcher"
SCORED = f"{LUCENE}.search.ScoreDoc"


class Numbered(NamedTuple):
    """The corpus position of each document of a Lucene index, in Lucene's order, and their unit."""

    positions: NDArray[np.int64]
    unit: Unit


class TermScore(NamedTuple):
    """The contribution of one query term to a text's score."""

    term: str
    query_tf: float  # the term's weight in the query
    tf: float
    df: int
    weight: float  # idf times the term's weight in the query
    score: float


class Search:
    """An open Lucene index with the formula and the analyser to search it."""

    def __init__(
        self, java: Java, reader: Any, analyser: Any, params: LuceneBM25 | LuceneQL, corpus: Numbered
    ) -> None:
        self._java, self._reader, self._unit = java, reader, corpus.unit
        self._positions = corpus.positions
        self._order = np.argsort(corpus.positions)
        java(SEARCHER).setMaxClauseCount(2**30)  # queries may have many words
        self.searcher = java(SEARCHER)(reader.getContext())
        self.searcher.setSimilarity(similarity(java, params))
        self._pick = Picked(java)
        self._build = handles.function(java, "Function", question(java, analyser, params.title_weight))
        self._expand = None
        if isinstance(params, LuceneBM25) and params.rm3:
            from harness_lucene.feedback import Feedback

            self._expand = Feedback(java, self.searcher, analyser, params).expand

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best texts of each query, with equal scores ordered by position. Without `within`, a hit has
        at least one term of its query. With `within`, indexed texts in it are hits, even of score 0."""
        passages = np.full((len(queries), k), -1, np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        size = max(1, HITS // max(k, 1 if within is None else within.shape[1], 1))
        for start in range(0, len(queries), size):
            stop = min(start + size, len(queries))
            parsed = self._queries(queries[start:stop])
            hits = self._top(parsed, k) if within is None else self._rescored(parsed, k, within[start:stop])
            counts, documents, values = self._pick(hits)
            rows = np.repeat(np.arange(start, stop), counts)
            columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            passages[rows, columns] = self._positions[documents]
            scores[rows, columns] = values
        return Hits(*ordered(passages, scores), self._unit)

    def explain(self, query: str, position: int) -> list[TermScore]:
        """The query's terms that the text at `position` has, with their scores, the highest score first."""
        document = int(self._documents(np.array([position], np.int64))[0])
        if document < 0:
            return []
        parsed = self._queries([query])
        scores = []
        for field, weight, term in leaves(self._java, parsed[0] if parsed else None, 1.0):
            why = self.searcher.explain(weighted(self._java, term, weight), document)
            if why.isMatch():
                parts = dict(statements(why))
                name = term.text() if field == CONTENTS else f"{field}:{term.text()}"
                df, idf = self._reader.docFreq(term), parts.get("idf", 1.0)
                value = float(why.getValue().doubleValue())
                scores.append(TermScore(name, weight, parts.get("freq", 0.0), df, weight * idf, value))
        return sorted(scores, key=lambda item: (-item.score, item.term))

    def _queries(self, queries: Sequence[str]) -> list[Any]:
        if self._expand is not None:
            return [self._expand(query, self._build.apply(query)) for query in queries]
        return [self._build.apply(query) for query in queries]

    def _top(self, queries: list[Any], k: int) -> Any:
        search = handles.method(self._java, SEARCHER, "search", TOP, QUERY, "int")
        bound = handles.bind(self._java, search, 0, self.searcher)
        bound = handles.bind(self._java, bound, 1, handles.boxed(self._java, k))
        function = handles.function(self._java, "Function", bound)
        listed = self._java("java.util.Arrays").stream(queries).toList()
        return listed.parallelStream().map(function).toList()

    def _rescored(self, queries: list[Any], k: int, within: Ints) -> Any:
        numbers = self._java("java.util.ArrayList")()
        again = self._java(f"{LUCENE}.search.QueryRescorer")
        for query, row in zip(queries, within, strict=True):
            documents = self._documents(np.unique(row))
            first = self._pick.given(np.sort(documents[documents >= 0]))
            numbers.add(again.rescore(self.searcher, first, query, 1.0, k))
        return numbers

    def _documents(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lucene's document number of the text at each position, or -1 if the text is not indexed."""
        if not len(self._order):
            return np.full(len(positions), -1, np.int64)
        place = np.searchsorted(self._positions, positions, sorter=self._order)
        numbers = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where(self._positions[numbers] == positions, numbers, -1)


class Picked:
    """Functions that convert between Lucene's hits and document numbers without a Python object per hit."""

    def __init__(self, java: Java) -> None:
        self._java = java
        array, stream = f"{SCORED}[]", "java.util.stream.Stream"
        hits = handles.getter(java, TOP, "scoreDocs", array)
        size = java("java.lang.invoke.MethodHandles").arrayLength(handles.type_of(java, array))
        flat = handles.static(java, "java.util.Arrays", "stream", stream, f"{OBJECT}[]")
        self._count = handles.function(java, "ToIntFunction", handles.then(java, hits, size))
        spread = handles.then(java, handles.shaped(java, hits, f"{OBJECT}[]", TOP), flat)
        self._spread = handles.function(java, "Function", spread)
        self._number = handles.function(java, "ToIntFunction", handles.getter(java, SCORED, "doc", "int"))
        score = handles.getter(java, SCORED, "score", "float")
        self._score = handles.function(
            java, "ToDoubleFunction", handles.shaped(java, score, "double", SCORED)
        )
        plain = handles.bind(
            java, handles.constructor(java, SCORED, "int", "float"), 1, handles.boxed(java, 0.0)
        )
        self._plain = handles.function(java, "IntFunction", plain)
        empty = java("java.lang.invoke.MethodHandles").arrayConstructor(handles.type_of(java, array))
        gather = handles.method(java, stream, "toArray", f"{OBJECT}[]", "java.util.function.IntFunction")
        gather = handles.bind(java, gather, 1, handles.function(java, "IntFunction", empty))
        total = f"{LUCENE}.search.TotalHits"
        top = handles.constructor(java, TOP, total, array)
        equal = java(f"{total}$Relation").EQUAL_TO
        top = handles.bind(java, top, 0, java(total)(1, equal))  # the total is not used
        gathered = handles.shaped(java, gather, array, stream)
        self._top = handles.function(java, "Function", handles.then(java, gathered, top))

    def __call__(self, results: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """The number of hits of each query, and all hits' documents and scores, query by query."""
        counts = np.array(results.stream().mapToInt(self._count).toArray(), np.int64)
        numbers = results.stream().flatMap(self._spread).mapToInt(self._number).toArray()
        scores = results.stream().flatMap(self._spread).mapToDouble(self._score).toArray()
        return counts, np.array(numbers, np.int64), np.array(scores, np.float32)

    def given(self, numbers: NDArray[np.int64]) -> Any:
        """Lucene's hits with these document numbers and the score 0."""
        each = self._java("java.util.stream.IntStream").of(*numbers.tolist())
        return self._top.apply(each.mapToObj(self._plain))


def question(java: Java, analyser: Any, title_weight: float) -> Any:
    """A Java function that turns a text into a query. The query matches any of the text's terms, and a term
    counts as often as the text has it, as in Anserini."""
    kind = "io.anserini.search.query.BagOfWordsQueryGenerator"
    fields: Any = CONTENTS
    if title_weight:
        fields = java("java.util.HashMap")()
        fields.put(CONTENTS, handles.boxed(java, 1.0))
        fields.put(TITLE, handles.boxed(java, title_weight))
    where = "java.util.Map" if title_weight else "java.lang.String"
    text = "java.lang.String"
    build = handles.method(java, kind, "buildQuery", QUERY, where, f"{LUCENE}.analysis.Analyzer", text)
    return handles.bind(java, build, 0, java(kind)(), fields, analyser)


def similarity(java: Java, params: LuceneBM25 | LuceneQL) -> Any:
    """Lucene's scoring formula for the parameters. It uses text lengths with four significant bits, because
    Lucene's index stores them like that."""
    kinds = f"{LUCENE}.search.similarities"
    if isinstance(params, LuceneBM25):
        return java(f"{kinds}.BM25Similarity")(params.k1, params.b)
    if params.smoothing == "dirichlet":
        return java(f"{kinds}.LMDirichletSimilarity")(params.mu)
    return java(f"{kinds}.LMJelinekMercerSimilarity")(params.lam)


def weighted(java: Java, term: Any, weight: float) -> Any:
    """A query of one weighted term, cast to the type with which pyjnius selects the right overload."""
    from jnius import cast

    plain = java(f"{LUCENE}.search.TermQuery")(term)
    return cast(QUERY, java(f"{LUCENE}.search.BoostQuery")(plain, weight))


def leaves(java: Java, query: Any, weight: float) -> Iterator[tuple[str, float, Any]]:
    """The field, the weight and the Lucene term of each term in a query."""
    from jnius import cast

    kind = query.getClass().getName().rpartition(".")[2]
    if kind == "BooleanQuery":
        for clause in cast(f"{LUCENE}.search.BooleanQuery", query).clauses().toArray():
            yield from leaves(java, clause.getQuery(), weight)
    elif kind == "BoostQuery":
        boosted = cast(f"{LUCENE}.search.BoostQuery", query)
        yield from leaves(java, boosted.getQuery(), weight * boosted.getBoost())
    elif kind == "TermQuery":
        term = cast(f"{LUCENE}.search.TermQuery", query).getTerm()
        yield term.field(), weight, term


def statements(why: Any) -> Iterator[tuple[str, float]]:
    """The numbers in Lucene's explanation, each with the words before the first comma of its description."""
    yield why.getDescription().partition(",")[0], float(why.getValue().doubleValue())
    for detail in why.getDetails():
        yield from statements(detail)


def ordered(
    passages: NDArray[np.int64], scores: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The rows of `passages` and `scores` ordered by descending score, equal scores by position. Lucene
    breaks ties by its own document numbers, which follow our positions only in an index that we wrote."""
    rank = np.where(passages < 0, np.iinfo(np.int64).max, passages)
    worth = np.where(passages < 0, np.inf, -scores)
    order = np.lexsort((rank, worth), axis=1)
    return np.take_along_axis(passages, order, 1), np.take_along_axis(scores, order, 1)
