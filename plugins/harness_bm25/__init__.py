"""Embedded lexical retrieval: BM25 in five forms and query likelihood over one inverted index."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.plugin import Facts, Retriever, hookimpl, param


@dataclass(frozen=True)
class BM25:
    """The parameters of BM25. Defaults are Anserini's k1 and b."""

    k1: float = param(0.9, "how much repetitions of a word count", minimum=0)
    b: float = param(0.4, "how much the length of a passage lowers its score", minimum=0, maximum=1)
    form: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = param(
        "lucene", "the form of the formula"
    )
    delta: float | None = param(
        None, "the constant delta of bm25l (default 0.5) and bm25+ (default 1)", minimum=0
    )
    lengths: Literal["exact", "lucene"] = param(
        "exact", "lengths of passages: exact, or rounded to one byte as in Lucene"
    )
    analyser: str = param(
        "auto", "the analyser that turns text into terms; auto: the default for the dataset's language"
    )
    title_weight: float = param(0.0, "the weight with which the words of the title are added", minimum=0)


@dataclass(frozen=True)
class QL:
    """The parameters of query likelihood. Default smoothing is Anserini's."""

    smoothing: Literal["dirichlet", "jelinek-mercer"] = param("dirichlet", "how absent words are smoothed")
    mu: float = param(1000.0, "the strength of Dirichlet smoothing", minimum=1e-6)
    lam: float = param(
        0.1, "the weight of the collection in Jelinek-Mercer smoothing", minimum=1e-6, maximum=1
    )
    lengths: Literal["exact", "lucene"] = param(
        "exact", "lengths of passages: exact, or rounded to one byte as in Lucene"
    )
    analyser: str = param(
        "auto", "the analyser that turns text into terms; auto: the default for the dataset's language"
    )
    title_weight: float = param(0.0, "the weight with which the words of the title are added", minimum=0)


def resolve(params: BM25 | QL, facts: Facts) -> BM25 | QL:
    """The parameters with `analyser: auto` replaced by the analyser of the passages' language."""
    from harness.toolkit.text import analysis

    return dataclasses.replace(params, analyser=analysis.resolve(params.analyser, facts.language))


def depends_on(params: BM25 | QL) -> tuple[tuple[str, str], ...]:
    return (("analysers", params.analyser),)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="bm25",
        paper="https://doi.org/10.1561/1500000019",
        summary="BM25 in the forms of Lucene, Robertson, ATIRE, BM25L and BM25+",
        build="harness_bm25.retriever:Lexical",
        params=BM25,
        needs=("numba",),
        libraries=("numba",),
        resolve=resolve,
        depends_on=depends_on,
        queries=("text", "terms"),
        search_only=("k1", "b", "form", "delta", "lengths"),
        cores="all",
        first=True,
    )
    yield Retriever(
        name="ql",
        paper="https://doi.org/10.1145/383952.384019",
        version="2",
        summary="query likelihood with Dirichlet or Jelinek-Mercer smoothing",
        build="harness_bm25.retriever:Lexical",
        params=QL,
        needs=("numba",),
        libraries=("numba",),
        resolve=resolve,
        depends_on=depends_on,
        queries=("text", "terms"),
        search_only=("smoothing", "mu", "lam", "lengths"),
        cores="all",
    )
