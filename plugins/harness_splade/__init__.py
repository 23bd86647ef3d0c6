"""Learned sparse retrieval: SPLADE and uniCOIL models, and precomputed term weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, IndexBytes, Retriever, hookimpl, param

Auto = Literal["auto"]
TERMS = (
    200  # of a text's vector: about as many as SPLADE++ gives a passage of MS MARCO; the dry run's measure
)


@dataclass(frozen=True)
class SpladeParams:
    """The parameters of `splade`. `auto` is the setting of the model's authors, or of its folder."""

    model: Path | str = param(help="a folder, a hub id, package:MODULE/FOLDER, or a short name")
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    query: Literal["auto", "model", "idf", "binary"] = param(
        "auto", "the weights of a query's tokens: from a model, from idf, or 1 for each token (binary)"
    )
    query_model: Path | str | None = param(
        None, "the model for queries, if it differs from the model for passages"
    )
    query_revision: str = param("auto", "the branch, tag or commit of the model for queries")
    pooling: Literal["auto", "max", "sum"] = param(
        "auto", "how the weights of a term are combined over the tokens of a text"
    )
    activation: Literal["auto", "log", "log-log"] = param(
        "auto", "what a logit becomes: log(1 + relu(x)), or log(1 + log(1 + relu(x)))"
    )
    query_length: int | Auto = param(
        "auto", "how many tokens of a query are read, including special ones", minimum=3
    )
    passage_length: int | Auto = param(
        "auto", "how many tokens of a passage are read, including special ones", minimum=3
    )
    quantise: int | None = param(
        None, "multiplies all weights by this number and rounds them; null: weights stay floats", minimum=1
    )
    dtype: Literal["auto", "fp32", "bf16", "fp16"] = param(
        "auto", "the type for passages; auto: bf16 if the device supports it. Queries always use fp32"
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model runs")
    trust_remote_code: bool = param(
        False, "runs Python code that comes with the model; the leaderboard records this"
    )


@dataclass(frozen=True)
class ImpactsParams:
    """The parameters of `impacts`. Weights are JSON lines in the form of Anserini's JsonVectorCollection,
    plain or compressed."""

    passages: Path = param(help='a file, or a folder of files, of {"id": ..., "vector": {term: weight}}')
    queries: Path | None = param(
        None, 'a file of {"contents": the query, "vector": {term: weight}}; null: each word weighs 1'
    )
    quantise: int | None = param(
        None, "multiplies all weights by this number and rounds them; null: weights stay floats", minimum=1
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if a passage has no weights: refuse, or skip (it is never retrieved)"
    )


def resolve(params: SpladeParams, facts: Facts) -> SpladeParams:
    from harness_splade.settings import resolved

    return resolved(params)


def missing_files(params: SpladeParams) -> Sequence[str]:
    from harness_splade.settings import absent

    return absent(params)


def index_bytes(params: SpladeParams) -> IndexBytes:
    """For each term of a text, the text's number in two bytes and the weight."""
    return IndexBytes(TERMS * (2 + (4 if params.quantise is None else 2)))


def notes(params: SpladeParams) -> Sequence[str]:
    from harness_splade.settings import notes

    return notes(params)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="splade",
        paper="https://arxiv.org/abs/2107.05720",
        summary="SPLADE, uniCOIL and other learned sparse models, searched exactly in an impact index",
        build="harness_splade.retriever:Sparse",
        params=SpladeParams,
        needs=("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"),
        extra="dense",
        libraries=("torch", "transformers", "tokenizers", "numba"),
        resolve=resolve,
        missing_files=missing_files,
        index_bytes=index_bytes,
        notes=notes,
        search_only=("query", "query_model", "query_revision", "query_length"),
        cores="all",
    )
    yield Retriever(
        name="impacts",
        summary="Term weights from files: uniCOIL, DeepImpact, DeepCT in Anserini's form",
        build="harness_splade.impacts:Impacts",
        params=ImpactsParams,
        libraries=("numba",),
        search_only=("queries",),
        cores="all",
    )
