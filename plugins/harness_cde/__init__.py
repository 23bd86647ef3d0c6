"""Contextual document embeddings: vectors that depend on a sample of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, Retriever, hookimpl, param


@dataclass(frozen=True)
class CdeParams:
    model: Path | str = param(help="a folder or a hub id, such as jxm/cde-small-v2 (docs/models.md)")
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    backbone: Path | str | None = param(
        None, "the model that the network's configuration and tokenizer come from; null: as config.json says"
    )
    backbone_revision: str = param("auto", "the branch, tag or commit of the backbone")
    seed: int = param(0, "the seed of the sample of the corpus", minimum=0)
    passage_prompt: str = param("search_document: ", "text that is put before every passage")
    query_prompt: str = param("search_query: ", "text that is put before every query")
    length: int = param(512, "how many tokens of a text are read", minimum=3)
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = param(
        "auto", "the type of the computation; auto: bf16 if the device supports it"
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model runs")


def resolve(params: CdeParams, facts: Facts) -> CdeParams:
    from harness_cde.settings import resolved

    return resolved(params)


def missing_files(params: CdeParams) -> Sequence[str]:
    from harness_cde.settings import missing_files

    return missing_files(params)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="cde",
        paper="https://arxiv.org/abs/2410.02525",
        summary="Bi-encoders in two stages, whose vectors depend on a sample of the corpus (CDE)",
        build="harness_cde.retriever:Contextual",
        params=CdeParams,
        needs=("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"),
        extra="dense",
        libraries=("torch", "transformers", "tokenizers", "numba"),
        resolve=resolve,
        missing_files=missing_files,
        search_only=("query_prompt",),
        cores="all",
    )
