"""Expands queries with the words of their first hits by RM3, as Anserini's own code does it."""

from __future__ import annotations

from typing import Any

from harness_lucene import LuceneBM25
from harness_lucene.runtime import Java
from harness_lucene.writing import CONTENTS, LUCENE


class Feedback:
    """RM3 (Abdul-Jaleel et al., TREC 2004) over an index that stores each text's terms."""

    def __init__(self, java: Java, searcher: Any, analyser: Any, params: LuceneBM25) -> None:
        self._java, self._searcher, self._analyser, self._params = java, searcher, analyser, params
        # by default Anserini keeps only words of [a-z0-9], which breaks other languages
        latin = params.analyser == "en"
        share, terms = params.original_query_weight, params.fb_terms
        self._reranker = java("io.anserini.rerank.lib.Rm3Reranker")(
            analyser, None, CONTENTS, terms, params.fb_docs, share, False, latin
        )
        self._arguments = java("io.anserini.search.SearchCollection$Args")()
        self._arguments.arbitraryScoreTieBreak = True  # the default needs a field that these indexes may lack
        self._arguments.hits = 1  # only the words are used; the search itself runs elsewhere

    def expand(self, text: str, query: Any) -> Any:
        """A Lucene query of the weighted words of the query and of its first hits."""
        hits = self._searcher.search(query, self._params.fb_docs)
        first = self._java("io.anserini.search.ScoredDocs").fromTopDocs(hits, self._searcher)
        tokens = self._java("io.anserini.analysis.AnalyzerUtils").analyze(self._analyser, text)
        context = self._java("io.anserini.rerank.RerankerContext")(
            self._searcher, None, query, None, text, tokens, None, self._arguments
        )
        self._reranker.rerank(first, context)
        builder = self._java(f"{LUCENE}.search.BooleanQuery$Builder")()
        should = self._java(f"{LUCENE}.search.BooleanClause$Occur").SHOULD
        weights = {item.getKey(): item.getValue() for item in context.feedbackTerms.entrySet().toArray()}
        for word, weight in sorted(weights.items()):
            term = self._java(f"{LUCENE}.index.Term")(CONTENTS, word)
            plain = self._java(f"{LUCENE}.search.TermQuery")(term)
            builder.add(self._java(f"{LUCENE}.search.BoostQuery")(plain, weight), should)
        return builder.build()
