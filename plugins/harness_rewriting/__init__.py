"""Rewriters of queries: pseudo-relevance feedback, spelling correction, and texts by a language model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Facts, Need, Rewriter, hookimpl, param
from harness.toolkit.services.settings import Service, missing

DOCUMENTS = "how many of the first hits are read"
GAR = "Write a passage that answers the question.\n\nQuestion: {query}\nPassage:"


@dataclass(frozen=True)
class RM3Params:
    """The parameters of `rm3`. The defaults are Anserini's."""

    documents: int = param(10, DOCUMENTS, minimum=1)
    terms: int = param(10, "how many terms are kept of each hit, and of all hits together", minimum=1)
    original: float = param(0.5, "the weight of the original query", minimum=0, maximum=1)
    common: float = param(0.1, "leaves out terms that more than this share of all texts have", minimum=0)
    words: Literal["auto", "latin", "all"] = param(
        "auto", "latin: terms of 2 to 20 letters a-z and digits; auto: latin for English, else all"
    )


@dataclass(frozen=True)
class Bo1Params:
    """The parameters of `bo1`. The defaults are Terrier's."""

    documents: int = param(3, DOCUMENTS, minimum=1)
    terms: int = param(10, "how many terms are added or reweighted", minimum=1)
    in_documents: int = param(2, "in how many of these hits a new term must be", minimum=1)


@dataclass(frozen=True)
class RocchioParams:
    documents: int = param(3, DOCUMENTS, minimum=1)
    alpha: float = param(0.9, "the weight of the query's vector", minimum=0)
    beta: float = param(0.1, "the weight of the mean of the hits' vectors", minimum=0)


@dataclass(frozen=True)
class SpellingParams:
    distance: int = param(
        2, "the largest number of edits from a word to its correction", minimum=1, maximum=3
    )
    least: int = param(1, "a word that occurs this often in the corpus is not replaced", minimum=1)
    length: int = param(4, "shorter words are not replaced", minimum=2)


@dataclass(frozen=True)
class Written:
    """The parameters that `generate` and `hyde` share."""

    service: Service | None = param(None, "a chat model behind an address (docs/services.md)")
    model: Path | str | None = param(None, "instead of a service, a T5 that runs here: a folder or a hub id")
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    prompt: str = param(GAR, "the prompt of the model; {query} stands for the query")
    answers: int = param(1, "how many texts are written for a query", minimum=1)
    temperature: float = param(
        0.0, "0: the model always takes the most likely word; must be above 0 for several texts", minimum=0
    )
    max_tokens: int = param(128, "the largest number of tokens of a text", minimum=1)
    seed: int = param(0, "the seed of the sampling", minimum=0)
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where a T5 runs")

    def __post_init__(self) -> None:
        if (self.service is None) == (self.model is None):
            raise ValueError("expected either a 'service' or a 'model'")
        if "{query}" not in self.prompt:
            raise ValueError("prompt: has no {query}; say where the query goes")
        if self.answers > 1 and not self.temperature:
            raise ValueError("answers: several of temperature 0 are the same; set a temperature")


@dataclass(frozen=True)
class GenerateParams(Written):
    repeat: int = param(
        1, "how often the query is repeated before the text; 0: the query is left out", minimum=0
    )


@dataclass(frozen=True)
class HydeParams(Written):
    query: bool = param(True, "whether the vector of the query is part of the mean")


def resolve_rm3(params: RM3Params, facts: Facts) -> RM3Params:
    if params.words != "auto":
        return params
    return dataclasses.replace(params, words="latin" if facts.language == "en" else "all")


def resolve_written(params: Any, facts: Facts) -> Any:
    if params.model is None:
        return dataclasses.replace(params, revision="main")
    from harness.toolkit.neural import hardware, models

    model, revision = models.located(params.model, params.revision)
    device = hardware.device(params.device)
    return dataclasses.replace(params, model=model, revision=revision, device=device)


def missing_written(params: Written) -> Sequence[str | Need]:
    from harness.toolkit.neural import backends, models

    if params.service is not None:
        return [*missing(params.service), *backends.absent("generate", "", "services")]
    assert params.model is not None
    return [*backends.absent("generate", "", "torch"), *models.missing_files(params.model, params.revision)]


def notes(params: Written) -> Sequence[str]:
    from harness.toolkit.neural import models

    return [] if params.model is None else models.notes(params.model, params.revision)


def libraries_written(params: Written) -> Mapping[str, Sequence[str]]:
    return {"model": ("torch", "transformers", "tokenizers") if params.model is not None else ()}


@hookimpl
def harness_rewriters() -> Iterable[Rewriter]:
    yield Rewriter(
        name="rm3",
        summary="RM3: the query mixed with the frequent terms of its first hits",
        build="harness_rewriting.feedback:RM3",
        params=RM3Params,
        resolve=resolve_rm3,
        gives="terms",
        feedback=lambda params: params.documents,
    )
    yield Rewriter(
        name="bo1",
        summary="Bo1: the query joined with the terms that diverge most from chance in its first hits",
        build="harness_rewriting.feedback:Bo1",
        params=Bo1Params,
        gives="terms",
        feedback=lambda params: params.documents,
    )
    yield Rewriter(
        name="rocchio",
        summary="the query's vector moved towards those of its first hits",
        build="harness_rewriting.vectors:Rocchio",
        params=RocchioParams,
        gives="vectors",
        feedback=lambda params: params.documents,
    )
    yield Rewriter(
        name="spelling",
        summary="replaces words of the query that the corpus lacks by the nearest words of the corpus",
        build="harness_rewriting.spelling:Spelling",
        params=SpellingParams,
        needs=("numba",),
        indexed=True,
        search_only=("distance", "least", "length"),
    )
    yield Rewriter(
        name="generate",
        summary="appends a text of a language model to the query, such as an answer (GAR, query2doc)",
        build="harness_rewriting.generated:Generate",
        params=GenerateParams,
        resolve=resolve_written,
        missing_files=missing_written,
        notes=notes,
        libraries_by_param=libraries_written,
    )
    yield Rewriter(
        name="hyde",
        paper="https://arxiv.org/abs/2212.10496",
        summary="the mean of the query's vector and those of passages that a language model writes (HyDE)",
        build="harness_rewriting.generated:Hyde",
        params=HydeParams,
        resolve=resolve_written,
        missing_files=missing_written,
        notes=notes,
        libraries_by_param=libraries_written,
        gives="vectors",
    )
