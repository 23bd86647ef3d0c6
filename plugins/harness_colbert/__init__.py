"""Late interaction as ColBERTv2: a retriever and a re-ranker over the vectors of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Facts, IndexBytes, Reranker, Retriever, hookimpl, param

Auto = Literal["auto"]


@dataclass(frozen=True)
class ColbertParams:
    """The parameters of both records. A setting that is `auto` is taken from the usage of the model's
    authors, or from its artifact.metadata."""

    model: Path | str = param(help="a folder, a hub id, package:MODULE/FOLDER, or a short name")
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    query_length: int | Auto = param(
        "auto",
        "how many tokens a query has, including special ones; shorter queries are filled with [MASK]",
        minimum=4,
    )
    passage_length: int | Auto = param(
        "auto", "how many tokens of a passage are read, including special ones", minimum=4
    )
    stored: Literal["fp16", "fp32", "4bit", "2bit", "1bit", "none"] = param(
        "fp16",
        "how vectors are stored, to be compared in fp32; 4bit, 2bit, 1bit: as the nearest centroid and so "
        "many bits for each dimension; none: searches encode the passages and keep nothing, with the results "
        "of fp32",
    )
    pool: int = param(
        1,
        "divides the number of a passage's vectors: similar ones are clustered, and clusters become means",
        minimum=1,
    )
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = param(
        "auto", "the type for passages; auto: bf16 if the device supports it. Queries always use fp32"
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model runs and vectors are compared")
    trust_remote_code: bool = param(
        False, "runs Python code that comes with the model; the leaderboard records this"
    )


@dataclass(frozen=True)
class Ivf:
    """An inverted file: it lists passages under the centroids nearest to their vectors."""

    centroids: int = param(0, "how many; 0: 16 times the root of the vectors, as a power of two", minimum=0)
    probes: int = param(4, "how many centroids are looked up for each vector of a query", minimum=1)
    candidates: int = param(
        4096,
        "how many of the passages found there are compared, at most",
        minimum=1,
    )
    seed: int = param(0, "chooses the vectors that centroids start from and learn from", minimum=0)


@dataclass(frozen=True)
class Approximate:
    ivf: Ivf = param(help="centroids of the passages' vectors name the passages that are compared")


@dataclass(frozen=True)
class RetrieverParams(ColbertParams):
    search: Literal["exact"] | Approximate = param(
        "exact",
        "exact: compares a query with every passage; ivf: with passages that an index of centroids chooses",
    )


def resolve(params: ColbertParams, facts: Facts) -> ColbertParams:
    from harness_colbert.settings import resolved

    return resolved(params)


def missing_files(params: ColbertParams) -> Sequence[str]:
    from harness.toolkit.neural import models

    return models.missing_files(params.model, params.revision)


def index_bytes(params: ColbertParams) -> IndexBytes | None:
    from harness_colbert.settings import index_bytes

    return index_bytes(params)


def notes(params: ColbertParams) -> Sequence[str]:
    from harness.toolkit.neural import models

    return models.notes(params.model, params.revision)


# What the retriever and the re-ranker have in common, so that on the same texts they share one index.
SAID: dict[str, Any] = {
    "name": "colbert",
    "paper": "https://arxiv.org/abs/2112.01488",
    "needs": ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"),
    "extra": "dense",
    "libraries": ("torch", "transformers", "tokenizers", "numba"),
    "resolve": resolve,
    "missing_files": missing_files,
    "index_bytes": index_bytes,
    "notes": notes,
}


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        summary="ColBERTv2: one vector for each token, compared by MaxSim, exactly or by centroids",
        build="harness_colbert.retriever:LateRetriever",
        params=RetrieverParams,
        search_only=("query_length", "search"),
        **SAID,
        cores="all",
    )


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield Reranker(
        summary="ColBERTv2: one vector for each token, candidates compared by MaxSim",
        build="harness_colbert.scorer:LateReranker",
        params=ColbertParams,
        search_only=("query_length",),
        indexed=True,
        **SAID,
        cores="all",
    )
