"""Bi-encoders with one or two towers, searched exactly or with faiss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, IndexBytes, Meant, Need, Retriever, hookimpl, param
from harness_dense.faiss_options import Faiss

Auto = Literal["auto"]


@dataclass(frozen=True)
class Late:
    """Late chunking: documents are read whole, and passages pooled from their own tokens."""

    window: int | Auto = param(
        "auto", "how many tokens are read at once; auto: all that the model has places for", minimum=8
    )
    overlap: int | Auto = param(
        "auto",
        "how many tokens two windows of a document share; auto: 512, but at most a quarter of the window",
        minimum=0,
    )


@dataclass(frozen=True)
class DenseParams:
    """The parameters of `dense`. A setting that is `auto` or null comes from the model's folder, or from the
    usage of the model's authors."""

    model: Path | str = param(
        help="a folder, a hub id, package:MODULE/FOLDER, or a short name (docs/models.md)"
    )
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    settings: str | None = param(
        None, "for a model in a folder: the short name of a known model whose settings are used"
    )
    pooling: Literal["auto", "cls", "mean", "max", "last"] = param("auto", "how tokens become one vector")
    normalise: bool | Auto = param("auto", "whether vectors are scaled to length 1")
    similarity: Literal["auto", "dot", "cosine"] = param("auto", "how vectors are compared")
    passage_prompt: str | None = param(None, "text that is put before every passage")
    passage_length: int | Auto = param("auto", "how many tokens of a passage are read", minimum=3)
    titles: Literal["auto", "none", "pair", "untyped-pair"] = param(
        "auto", "whether a passage is read as a pair of title and text; untyped: both with the token type 0"
    )
    late: Late | None = param(
        None, "late chunking: a document is read once, and each passage pooled (by mean) from its own tokens"
    )
    query_model: Path | str | None = param(
        None, "the model for queries, if it differs from the model for passages"
    )
    query_revision: str = param("auto", "the branch, tag or commit of the model for queries")
    query_prompt: str | None = param(None, "text that is put before every query")
    query_length: int | Auto = param("auto", "how many tokens of a query are read", minimum=3)
    dtype: Literal["auto", "fp32", "bf16", "fp16", "stored"] = param(
        "auto",
        "the type of the computation; auto: bf16 if the device supports it; stored: that of an ONNX file",
    )
    dimensions: int | None = param(
        None, "how many of a vector's first numbers are kept, for models trained so (Matryoshka)", minimum=1
    )
    stored: Literal["auto", "fp32", "fp16", "int8", "binary"] = param(
        "auto",
        "the type in which vectors are stored; auto: fp16 if they were computed in fp16 or bf16, else fp32; "
        "binary: one bit for each number",
    )
    rescore: int = param(
        4,
        "with stored: binary: how many candidates for each hit are found by the bits and then scored with "
        "the query's full numbers; 0: the bits alone decide",
        minimum=0,
    )
    rescore_by: Literal["binary", "int8", "fp16", "fp32"] = param(
        "binary", "the form in which passages are scored then; if it is not binary, it is stored too"
    )
    keep_full: bool = param(
        True,
        "keeps the full vectors too, from which all forms (dimensions, stored) are made without encoding "
        "again; false saves their disk space",
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model and a faiss index run")
    backend: Literal["auto", "torch", "openvino", "onnx", "numpy"] = param(
        "auto",
        "the library that runs the model; auto: torch, onnx if the folder has only ONNX files, or numpy for "
        "static embeddings",
    )
    search: Literal["exact"] | Faiss = param(
        "exact", "how the nearest vectors are found: exact, or a faiss index by its name"
    )
    trust_remote_code: bool = param(
        False, "runs Python code that comes with the model; the leaderboard records this"
    )
    code_revision: str | None = param(
        None, "the branch, tag or commit of the code, if it comes from another model of the hub"
    )


def resolve(params: DenseParams, facts: Facts) -> DenseParams:
    from harness_dense.resolving import resolved

    return resolved(params, facts.unit)


def missing_files(params: DenseParams) -> Sequence[str | Need]:
    from harness_dense.resolving import missing_files

    return missing_files(params)


def index_bytes(params: DenseParams) -> IndexBytes | None:
    from harness_dense.resolving import index_bytes

    return index_bytes(params)


def derived_from(params: DenseParams) -> DenseParams | None:
    from harness_dense.resolving import derived_from

    return derived_from(params)


def notes(params: DenseParams) -> Sequence[str]:
    from harness_dense.resolving import notes

    return notes(params)


def libraries_by_param(params: DenseParams) -> Mapping[str, Sequence[str]]:
    """The libraries by the parameter that they belong to: those that run the model to `backend`, those that
    compare vectors to `search`. Because the latter change only the search, a new version of numba encodes
    nothing again."""
    torch = ("torch", "transformers")
    backends = {"openvino": ("openvino", *torch), "onnx": ("onnxruntime",), "numpy": ("numpy",)}
    faiss = () if params.search == "exact" else ("faiss-cpu", "faiss-gpu")
    return {"backend": backends.get(params.backend, torch), "search": ("numba", *faiss)}


def from_word(word: str, language: str | None) -> Meant:
    """Any word may name a model: a short name, a name on the hub, or a folder."""
    path = Path(word).expanduser()
    here = word.startswith((".", "/", "~")) or path.is_dir()
    return Meant({"model": path if here else word}, sure=False)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="dense",
        summary="Bi-encoders: one vector for each text, compared by inner product or cosine",
        build="harness_dense.retriever:Dense",
        params=DenseParams,
        needs=("tokenizers",),
        extra="dense",
        libraries=("tokenizers",),
        resolve=resolve,
        missing_files=missing_files,
        notes=notes,
        libraries_by_param=libraries_by_param,
        index_bytes=index_bytes,
        derived_from=derived_from,
        queries=("text", "vectors"),
        search_only=("query_model", "query_revision", "query_prompt", "query_length", "search", "rescore"),
        cores="all",
        from_word=from_word,
    )
