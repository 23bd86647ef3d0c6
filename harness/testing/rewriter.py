"""What a rewriter promises: the rewritten query depends only on the query, its hits and the corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.testing import hit_checks, interruption
from harness.testing.subject import Subject, able, index_if_indexed, require
from harness.testing.texts import QUERIES, SCRIPTS, MemoryTexts, sample, texts
from harness.types import Floats, Hits, Ints, Rewritten, TermStatistics

DIMENSION = 16


class Searching:
    """A small searcher of words and vectors that rewriters can use."""

    def __init__(self, corpus: MemoryTexts) -> None:
        self._corpus = corpus
        self._rows = {int(p): i for i, p in enumerate(corpus.candidates.tolist())}
        every = corpus.take(corpus.candidates)
        self._words = [text.lower().split() for text in every]
        self._vectors = self.encode_passages(every)

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.lower().split() for text in texts]

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        counts = [sum(term in words for words in self._words) for term in terms]
        times = [sum(words.count(term) for words in self._words) for term in terms]
        total = float(sum(map(len, self._words)))
        return TermStatistics(
            np.array(counts, np.int64), np.array(times, np.float64), len(self._words), total
        )

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        return self.search_terms([dict.fromkeys(words, 1.0) for words in self.terms(queries)], k, within)

    def search_terms(
        self, queries: Sequence[Mapping[str, float]], k: int, within: Ints | None = None
    ) -> Hits:
        rows = [
            [sum(weight * words.count(term) for term, weight in query.items()) for words in self._words]
            for query in queries
        ]
        return self._best(np.array(rows, np.float32).reshape(len(queries), len(self._words)), k, within)

    def encode(self, queries: Sequence[str]) -> Floats:
        return self.encode_passages(queries)

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        return np.stack([_vector(text) for text in texts]) if texts else np.zeros((0, DIMENSION), np.float32)

    def vectors(self, positions: Ints) -> Floats:
        return self._vectors[[self._rows[position] for position in positions.tolist()]]

    def search_vectors(self, queries: Floats, k: int, within: Ints | None = None) -> Hits:
        return self._best((queries @ self._vectors.T).astype(np.float32), k, within)

    def _best(self, scores: Floats, k: int, within: Ints | None) -> Hits:
        if within is not None:
            scores = np.where(np.isin(self._corpus.candidates, within), scores, -np.inf)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return Hits(self._corpus.candidates[order], np.take_along_axis(scores, order, 1), self._corpus.unit)


def _vector(text: str) -> Floats:
    vector = np.zeros(DIMENSION, np.float32)
    for word in text.lower().split():
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        vector += np.frombuffer(digest[:DIMENSION], np.uint8).astype(np.float32) / 255 - 0.5
    return vector


def corpus_of(_: Subject) -> MemoryTexts:
    return sample()


def opened(subject: Subject, corpus: MemoryTexts, folder: Path) -> Any:
    folder.mkdir(exist_ok=True)
    method = index_if_indexed(subject, corpus, folder)
    asks = subject.record.gives != "text"
    index_folder = folder if subject.record.indexed else None
    return method.open(corpus, index_folder, Searching(corpus) if asks else None)


def feedback_of(subject: Subject, corpus: MemoryTexts, queries: Sequence[str]) -> Hits | None:
    """The hits of the queries if the method needs feedback, else None."""
    needed = subject.record.feedback(subject.params)
    return Searching(corpus).search(queries, max(needed, 5)) if needed else None


def written(subject: Subject, writer: Any, corpus: MemoryTexts, queries: Sequence[str]) -> list[Any]:
    """The rewritten queries. Raises `Broken` if they do not have the form that the record names."""
    hits = feedback_of(subject, corpus, queries)
    before = hits and hit_checks.digest(hits)
    result = writer.rewrite(list(queries), hits)
    require(not hits or before == hit_checks.digest(hits), "it changes the hits that it is given")
    require(
        isinstance(result, Rewritten), f"it returns a {type(result).__name__}, not harness.types.Rewritten"
    )
    form = subject.record.gives
    values = {"text": result.texts, "terms": result.terms, "vectors": result.vectors}
    filled = [name for name, value in values.items() if value is not None]
    require(
        filled == [form], f"its record says that it gives {form}; it gave {' and '.join(filled) or 'nothing'}"
    )
    rows = list(values[form])
    require(len(rows) == len(queries), f"it gives {len(rows)} rows for {len(queries)} queries")
    for row in rows:
        if form == "text":
            require(isinstance(row, str), f"it gives {row!r}, not a text")
        elif form == "vectors":
            require(np.isfinite(row).all(), "a number of a vector is not finite")
        else:
            good = all(isinstance(term, str) and 0 < weight < float("inf") for term, weight in row.items())
            require(good, "the weight of a term is not above 0 and finite")
    return rows


def _same(subject: Subject, one: Any, two: Any) -> bool:
    if isinstance(one, str):
        return bool(one == two)
    if isinstance(one, dict):
        if one.keys() != two.keys():
            return False
        one, two = (np.array([row[term] for term in sorted(row)]) for row in (one, two))
    return hit_checks.same_scores(np.asarray(one), np.asarray(two), subject.tolerance)


def fingerprint(subject: Subject, folder: Path) -> str:
    corpus = sample()
    rows = written(subject, opened(subject, corpus, folder), corpus, QUERIES)
    plain = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).hexdigest()


def gives_the_same_twice(subject: Subject, folder: Path) -> None:
    first, second = (fingerprint(subject, folder / name) for name in ("first", "second"))
    require(first == second, "opening it twice gives different queries")


def rewrites_queries_independently(subject: Subject, folder: Path) -> None:
    corpus = sample()
    writer = opened(subject, corpus, folder)
    together = written(subject, writer, corpus, QUERIES)
    for query, row in zip(QUERIES, together, strict=True):
        [alone] = written(subject, writer, corpus, [query])
        require(_same(subject, alone, row), f"what it writes for '{query}' depends on the other queries")


def takes_no_queries(subject: Subject, folder: Path) -> None:
    corpus = sample()
    with able("rewrite no query"):
        written(subject, opened(subject, corpus, folder), corpus, [])


def takes_queries_without_hits(subject: Subject, folder: Path) -> None:
    corpus = sample()
    writer = opened(subject, corpus, folder)
    if not subject.record.feedback(subject.params):
        return
    empty = Hits(np.full((len(QUERIES), 3), -1, np.int64), np.full((len(QUERIES), 3), -np.inf, np.float32))
    with able("rewrite queries for which nothing was found"):
        writer.rewrite(list(QUERIES), empty)


def takes_an_empty_corpus(subject: Subject, folder: Path) -> None:
    corpus = texts([])
    with able("rewrite queries of an empty corpus"):
        written(subject, opened(subject, corpus, folder), corpus, QUERIES)


def takes_any_query(subject: Subject, folder: Path) -> None:
    corpus = texts([*SCRIPTS, "the castle"])
    writer = opened(subject, corpus, folder)
    with able("rewrite empty queries and those of any script"):
        written(subject, writer, corpus, ["", " ", "...", "wordthatnotexthas", *SCRIPTS])


def finishes_an_index_that_was_interrupted(subject: Subject, folder: Path) -> None:
    if not subject.record.indexed:
        return
    resumed = folder / "resumed"
    interruption.leave_parts(lambda corpus: index_if_indexed(subject, corpus, resumed), sample(), resumed)
    expected = fingerprint(subject, folder / "whole")
    require(fingerprint(subject, resumed) == expected, "an index over an interrupted one gives other queries")
