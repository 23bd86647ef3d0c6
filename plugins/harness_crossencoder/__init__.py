"""The re-ranker `crossencoder`: models that read query and passage together, alone or several averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, Need, Reranker, hookimpl, param


@dataclass(frozen=True)
class CrossEncoderParams:
    """The parameters of the re-ranker. `auto` is the setting of the model's folder, or of its authors."""

    model: Path | str | None = param(
        None, "a folder, a hub id, package:MODULE/FOLDER, or a short name (docs/models.md)"
    )
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    models: tuple[Path | str, ...] = param((), "instead of one model, several whose scores are averaged")
    revisions: tuple[str, ...] = param((), "the revisions of `models`, in order; by default as `revision`")
    average: Literal["probabilities", "logits"] = param(
        "probabilities", "what is averaged of several models: probabilities of being relevant, or logits"
    )
    kind: Literal["auto", "classifier", "monot5", "yes-no", "mxbai-v2"] = param(
        "auto",
        "the kind of model: a classifier with one logit or two classes; a T5 that answers true "
        "or false; or a language model that answers yes or no, or 1 or 0 (mxbai-v2)",
    )
    instruction: str = param(
        "auto",
        "the instruction in a language model's prompt; auto: its authors' for web search, or none (mxbai-v2)",
    )
    length: int | Literal["auto"] = param(
        "auto", "how many tokens of a pair are read, including special ones", minimum=16
    )
    query_length: int | None = param(
        None, "how many tokens of a query are read; null: the longer text of a pair is cut first", minimum=1
    )
    dtype: Literal["auto", "fp32", "bf16", "fp16", "stored"] = param(
        "auto",
        "the type of the computation; auto: bf16 if the device supports it; stored: that of an ONNX file",
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model runs")
    backend: Literal["auto", "torch", "onnx"] = param(
        "auto", "the library that runs the model; auto: torch, or onnx if the folder has only ONNX files"
    )
    trust_remote_code: bool = param(
        False, "runs Python code that comes with the model; the leaderboard records this"
    )

    def __post_init__(self) -> None:
        if (self.model is None) == (not self.models):
            raise ValueError("model: name one model, or several as `models`")
        if self.revisions and len(self.revisions) != len(self.models):
            raise ValueError(f"revisions: {len(self.revisions)} for {len(self.models)} models; give one each")


def resolve(params: CrossEncoderParams, facts: Facts) -> CrossEncoderParams:
    from harness_crossencoder.settings import resolved

    return resolved(params)


def notes(params: CrossEncoderParams) -> Sequence[str]:
    from harness_crossencoder.settings import notes

    return notes(params)


def missing_files(params: CrossEncoderParams) -> Sequence[str | Need]:
    from harness_crossencoder.settings import missing_files

    return missing_files(params)


def libraries_by_param(params: CrossEncoderParams) -> Mapping[str, Sequence[str]]:
    return {"backend": ("onnxruntime",) if params.backend == "onnx" else ("torch", "transformers")}


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield Reranker(
        name="crossencoder",
        summary="Cross-encoders and monoT5: a model reads query and passage together",
        build="harness_crossencoder.scorer:CrossEncoder",
        params=CrossEncoderParams,
        needs=("tokenizers",),
        extra="dense",
        libraries=("tokenizers",),
        resolve=resolve,
        missing_files=missing_files,
        notes=notes,
        libraries_by_param=libraries_by_param,
        cores="all",
    )
