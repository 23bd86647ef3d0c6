"""Re-rankers and embeddings by language models behind an address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.plugin import Need, Reranker, Retriever, hookimpl, param
from harness.toolkit.services.settings import Service, missing

WORDS = "how many words of a passage are read"
SERVICE = "the model behind an address (docs/services.md)"


@dataclass(frozen=True)
class ListwiseParams:
    """The parameters of `listwise`. The default window and step are RankGPT's."""

    service: Service = param(help=SERVICE)
    window: int = param(20, "passages that the model orders at once", minimum=2)
    step: int = param(10, "by how many passages the window moves towards the beginning", minimum=1)
    words: int = param(300, WORDS, minimum=1)
    max_tokens: int = param(256, "the largest number of tokens of an answer", minimum=1)

    def __post_init__(self) -> None:
        if self.step > self.window:
            raise ValueError(f"step: {self.step} leaves passages out of a window of {self.window}")


@dataclass(frozen=True)
class PairwiseParams:
    service: Service = param(help=SERVICE)
    method: Literal["all-pairs", "heap"] = param(
        "heap", "all-pairs: asks about every pair and counts wins; heap: finds the best passages by heapsort"
    )
    top: int = param(10, "heap: how many of the best passages are found", minimum=1)
    words: int = param(300, WORDS, minimum=1)


@dataclass(frozen=True)
class SetwiseParams:
    service: Service = param(help=SERVICE)
    children: int = param(3, "how many passages one question has beside the parent", minimum=1, maximum=22)
    top: int = param(10, "how many of the best passages are found", minimum=1)
    words: int = param(300, WORDS, minimum=1)


@dataclass(frozen=True)
class PointwiseParams:
    service: Service = param(help=SERVICE)
    words: int = param(300, WORDS, minimum=1)


@dataclass(frozen=True)
class EmbeddingParams:
    service: Service = param(help=SERVICE)
    dimensions: int | None = param(None, "asks the service for vectors with this many numbers", minimum=1)
    similarity: Literal["cosine", "dot"] = param("cosine", "how vectors are compared")
    query_prompt: str = param("", "text that is put before every query")
    passage_prompt: str = param("", "text that is put before every passage")
    batch: int = param(
        64, "how many texts (or groups of passages) one request has", minimum=1, maximum=2048, keyed=False
    )
    documents: Literal["voyage", "jina"] | None = param(
        None, "sends the passages of a document together, in the form of this service; null: each alone"
    )
    together: int | None = param(
        None,
        "for documents: the most bytes (UTF-8) that are sent together; a longer document is split between "
        "passages; null: 64,000 for voyage, 16,000 for jina",
        minimum=1,
    )

    def __post_init__(self) -> None:
        if self.together is not None and self.documents is None:
            raise ValueError("together goes with documents: voyage or jina; add that, or leave it out")


def missing_files(params: Any) -> Sequence[str | Need]:
    return missing(params.service)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="embeddings",
        summary="embeddings through a service, compared exactly",
        build="harness_language_models.embedding:Embedding",
        params=EmbeddingParams,
        needs=("httpx", "numba"),
        extra="services",
        libraries=("numba",),
        missing_files=missing_files,
        queries=("text", "vectors"),
        search_only=("query_prompt",),
    )


RERANKERS = (
    (
        "listwise",
        "a language model orders windows of passages, from the end of the ranking to its beginning",
        ListwiseParams,
    ),
    ("pairwise", "a language model says which of two passages is better", PairwiseParams),
    ("setwise", "a language model says which of several passages is best", SetwiseParams),
    ("pointwise", "a language model says whether a passage answers the query: yes or no", PointwiseParams),
)


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    for name, summary, params in RERANKERS:
        yield Reranker(
            name=name,
            summary=summary,
            build="harness_language_models.reranking:Reading",
            params=params,
            needs=("httpx",),
            extra="services",
            missing_files=missing_files,
            together=name != "pointwise",
        )
