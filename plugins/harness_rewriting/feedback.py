"""Rewrites queries by feedback over an index of terms: RM3 and Bo1."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.plugin import Hits, Rewritten, Searcher, TermSearcher, TermStatistics, Texts
from harness.toolkit.index.positions import rows_of
from harness_rewriting import Bo1Params, RM3Params

LATIN = re.compile(r"[a-z0-9]+")


class Read(NamedTuple):
    """A query and its first hits as terms, with the statistics of these terms."""

    query: Counter[str]
    texts: list[Counter[str]]  # the terms of its first hits, best first
    scores: list[float]
    facts: Mapping[str, tuple[int, float]]  # term -> number of texts with it, number of occurrences


Weigh: TypeAlias = Callable[[Read, TermStatistics], dict[str, float]]


class Feedback:
    """A rewriter that turns each query and its first hits into weighted terms."""

    def __init__(self, weigh: Weigh, documents: int) -> None:
        self._weigh, self._documents = weigh, documents

    def index(self, texts: Texts, folder: Path) -> None:
        """Write nothing, because feedback reads the retriever's index."""

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Reader:
        assert isinstance(searcher, TermSearcher)
        return Reader(self._weigh, self._documents, texts, searcher)


class Reader:
    def __init__(self, weigh: Weigh, documents: int, texts: Texts, searcher: TermSearcher) -> None:
        self._weigh, self._documents = weigh, documents
        self._texts, self._searcher = texts, searcher

    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        assert feedback is not None
        feedback = first(feedback, self._documents)
        positions = np.unique(feedback.passages[feedback.passages >= 0])
        read = [Counter(terms) for terms in self._searcher.terms(self._texts.take(positions))]
        query_terms = [Counter(terms) for terms in self._searcher.terms(queries)]
        words = sorted({term for text in (*read, *query_terms) for term in text})
        known = self._searcher.statistics(words)
        pairs = zip(known.texts.tolist(), known.occurrences.tolist(), strict=True)
        facts = dict(zip(words, pairs, strict=True))
        rows = []
        for i, query in enumerate(query_terms):
            filled = feedback.passages[i] >= 0
            texts = [read[row] for row in rows_of(feedback.passages[i][filled], positions).tolist()]
            scores = feedback.scores[i][filled].tolist()
            rows.append(self._weigh(Read(query, texts, scores, facts), known))
        return Rewritten(terms=[{t: w for t, w in sorted(row.items()) if w > 0} for row in rows])


class RM3(Feedback):
    def __init__(self, params: RM3Params) -> None:
        super().__init__(lambda read, known: rm3(read, known, params), params.documents)


class Bo1(Feedback):
    def __init__(self, params: Bo1Params) -> None:
        super().__init__(lambda read, known: bo1(read, known, params), params.documents)


def first(hits: Hits, count: int) -> Hits:
    """The first `count` hits of each query. Of hits with equal scores, those that come first in the corpus
    are taken, as in Lucene."""
    places = np.where(hits.passages >= 0, hits.passages, np.iinfo(np.int64).max)
    order = np.lexsort((places, np.where(hits.passages >= 0, -hits.scores, np.inf)), axis=1)[:, :count]
    passages = np.take_along_axis(hits.passages, order, 1)
    return Hits(passages, np.take_along_axis(hits.scores, order, 1), hits.unit)


def rm3(read: Read, known: TermStatistics, params: RM3Params) -> dict[str, float]:
    """The weighted terms of a query by RM3 (Abdul-Jaleel et al., TREC 2004), as Anserini computes it.

    The most frequent terms of each hit are kept. A hit gives a kept term the term's share of all kept terms
    of the hit, times the hit's score. The terms with the largest sums over all hits are mixed with the terms
    of the query. The weights of both sides are scaled to sum to 1 before they are mixed."""
    model: dict[str, float] = {}
    kept = []
    for text in read.texts:
        fit = {
            term: float(count)
            for term, count in text.items()
            if _fits(term, params.words) and read.facts[term][0] <= params.common * known.all_texts
        }
        kept.append(_first(fit, params.terms))
    for term in {term for vector in kept for term in vector}:
        model[term] = sum(
            vector.get(term, 0.0) / sum(vector.values()) * score
            for vector, score in zip(kept, read.scores, strict=True)
            if vector
        )
    model = _scaled(_first(model, params.terms))
    query = _scaled({term: float(count) for term, count in read.query.items()})
    share = params.original if model else 1.0
    return {
        term: share * query.get(term, 0.0) + (1 - share) * model.get(term, 0.0) for term in {**query, **model}
    }


def bo1(read: Read, known: TermStatistics, params: Bo1Params) -> dict[str, float]:
    """The weighted terms of a query by Bo1 (Amati 2003, chapter 6.3, with the bound of Macdonald et al.
    2005).

    A term with F occurrences in all N texts and f in the hits has the weight
    w(t) = f log2((1 + F/N) / (F/N)) + log2(1 + F/N).
    It is divided by the weight that the most frequent term of the hits would have if all its occurrences
    were in the hits. The result is added to the term's qtf / max qtf in the query."""
    counts: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for text in read.texts:
        counts.update(text)
        hits.update(text.keys())
    query = {term: count / max(read.query.values()) for term, count in read.query.items()}
    if not counts:
        return query
    most = max(counts.values())
    bound = _divergence(most, most / known.all_texts)
    worth = {
        term: _divergence(count, read.facts[term][1] / known.all_texts) / bound
        for term, count in counts.items()
        if (term in query or hits[term] >= params.in_documents) and read.facts[term][1] > 0
    }
    best = sorted(worth.items(), key=lambda item: (-item[1], item[0]))[: params.terms]
    return {**query, **{term: query.get(term, 0.0) + weight for term, weight in best}}


def _divergence(count: float, share: float) -> float:
    return count * math.log2((1 + share) / share) + math.log2(1 + share)


def _fits(term: str, words: str) -> bool:
    return 2 <= len(term) <= 20 and (words != "latin" or LATIN.fullmatch(term) is not None)


def _first(weights: Mapping[str, float], count: int) -> dict[str, float]:
    """The `count` terms with the largest weights. Of equal weights, the first terms in the alphabet are
    taken. Weights are compared with 32 bits, as in Anserini."""
    order = sorted(weights, key=lambda term: (-np.float32(weights[term]), term))
    return {term: weights[term] for term in order[:count]}


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}
