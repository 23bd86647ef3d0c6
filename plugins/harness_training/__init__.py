"""Trainers of bi-encoders, of cross-encoders, and of both together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.plugin import Analysis, Facts, HarnessError, Trainer, hookimpl, param

if TYPE_CHECKING:
    from harness_training.cross_encoder import CrossEncoder
    from harness_training.dual_encoder import DualEncoder
    from harness_training.rocketqav2 import RocketQAv2

Pooling = Literal["auto", "cls", "mean", "max", "last"]
Dtype = Literal["auto", "fp32", "bf16"]
Device = Literal["auto", "cpu", "cuda"]
INIT = "the model to start from: a folder, a hub id, package:MODULE/FOLDER, or {made: NAME}"
COMPUTED = "the type of matrix products; auto: bf16 if the device supports it. Weights stay in fp32"
OPTIMISER = "the optimiser; lamb scales the step of each matrix by its norm, as in T2Ranking's code"
MICRO = "how many texts or pairs are in memory at a time; this does not change the batch"


def of(base: type, name: str, default: Any) -> Any:
    """The field of the parameter `name` of the class `base`, with another default."""
    field = base.__dataclass_fields__[name]  # type: ignore[attr-defined]
    return dataclasses.field(default=default, metadata=field.metadata)


@dataclass(frozen=True, kw_only=True)
class Common:
    """The parameters that all trainers have. The defaults are those of bi-encoders."""

    init: Path | str = param(help=INIT)
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    epochs: int = param(10, "how often every query is seen", minimum=1)
    batch: int = param(256, "how many queries a step has, each with its list of passages", minimum=1)
    micro: int = param(16, MICRO, minimum=1)
    lr: float = param(3e-5, "the highest learning rate", minimum=0)
    warmup: float = param(0.1, "the share of the steps in which the rate rises", minimum=0, maximum=1)
    decay: float = param(0.0, "weight decay of matrices", minimum=0)
    optimiser: Literal["adamw", "lamb"] = param("adamw", OPTIMISER)
    clip: float = param(1.0, "the largest norm of a step's gradient; 0: no limit", minimum=0)
    dropout: float = param(0.1, "the dropout of hidden states and attention", minimum=0, maximum=0.99)
    dtype: Dtype = param("auto", COMPUTED)
    device: Device = param("auto", "where the model is trained")
    processes: int = param(
        1, "how many processes of one machine share each batch; on GPUs, each process has its own", minimum=1
    )


@dataclass(frozen=True, kw_only=True)
class Encoder(Common):
    """The parameters of trainers of an encoder that turns a text into one vector."""

    pooling: Pooling = param("auto", "how tokens become one vector; auto: as the folder says, else cls")
    similarity: Literal["dot", "cosine"] = param("dot", "how vectors are compared")
    temperature: float = param(
        1.0, "scores are divided by this number; 0.01 to 0.1 is usual with cosine", minimum=1e-4
    )
    query_length: int = param(32, "how many tokens of a query are read", minimum=3)
    passage_length: int = param(128, "how many tokens of a passage are read", minimum=3)
    query_prompt: str = param("", "text that is put before every query")
    passage_prompt: str = param("", "text that is put before every passage")


@dataclass(frozen=True, kw_only=True)
class BiEncoder(Encoder):
    """The parameters that only trainers of bi-encoders have."""

    untied: bool = param(
        False, "trains one encoder for queries and one for passages: the parts `query` and `passage`"
    )
    loss: Literal["contrastive", "margin-mse", "kl"] = param(
        "contrastive",
        "contrastive: softmax over a batch; others: distillation from the scores of the negatives' run",
    )
    in_batch: bool = param(True, "whether passages of other queries in the batch are negatives too")
    cross_device: bool = param(
        True, "whether passages of other processes' queries are negatives too (RocketQA)"
    )


@dataclass(frozen=True, kw_only=True)
class DualEncoderParams(BiEncoder):
    """The parameters of `dual-encoder`. The defaults are those of DuReader-retrieval (Qiu et al. 2022,
    appendix A.2)."""

    passage_length: int = of(Encoder, "passage_length", 384)


@dataclass(frozen=True, kw_only=True)
class PromptsParams(BiEncoder):
    """The parameters of `prompts`. The defaults are those of DPTDR's code for MS MARCO (Tang et al. 2022).
    The batch is that of all devices of this code together."""

    init: Path | str = param(help=f"{INIT}; the weights of this model do not change")
    batch: int = of(Common, "batch", 64)
    lr: float = of(Common, "lr", 7e-3)
    prefix: int = param(
        128, "how many trained key-values are put before those of the text in every layer", minimum=1
    )
    mlp: bool = param(False, "whether a small network produces the prefix during training; it is not stored")
    mlp_width: int = param(512, "the width of that network", minimum=1)


@dataclass(frozen=True, kw_only=True)
class LoraParams(BiEncoder):
    """The parameters of `lora`. The rank, alpha, matrices and learning rate are those of LoRA's paper for
    RoBERTa-base (Hu et al. 2022, table 9)."""

    init: Path | str = param(help=f"{INIT}; the weights of this model do not change")
    lr: float = of(Common, "lr", 5e-4)
    rank: int = param(8, "the rank of a matrix's change", minimum=1)
    alpha: float = param(8.0, "a change is multiplied by alpha / rank", minimum=0)
    matrices: tuple[str, ...] = param(
        ("query", "value"), "which matrices change: the last parts of their names"
    )


@dataclass(frozen=True, kw_only=True)
class CrossEncoderParams(Common):
    """The parameters of `cross-encoder`. The defaults are those of DuReader-retrieval (Qiu et al. 2022,
    appendix A.2)."""

    epochs: int = of(Common, "epochs", 3)
    batch: int = of(Common, "batch", 64)
    lr: float = of(Common, "lr", 1e-5)
    warmup: float = of(Common, "warmup", 0.0)
    decay: float = of(Common, "decay", 0.01)
    loss: Literal["two-classes", "one-logit", "listwise"] = param(
        "two-classes", "cross-entropy of single pairs (two classes or one logit), or of each query's list"
    )
    length: int = param(384, "how many tokens of a pair are read", minimum=8)
    query_length: int = param(64, "how many tokens of a query are read", minimum=1)


@dataclass(frozen=True, kw_only=True)
class RocketQAv2Params(Encoder):
    """The parameters of `rocketqav2`. The defaults are those of the paper (Ren et al. 2021, section 4.1).
    The trained parts are `retriever` and `reranker`."""

    init: Path | str = param(help=f"for the retriever: {INIT}")
    init_reranker: Path | str = param(help=f"for the re-ranker: {INIT}")
    reranker_revision: str = param("auto", "the branch, tag or commit of the re-ranker's model on the hub")
    epochs: int = of(Common, "epochs", 3)
    batch: int = of(Common, "batch", 96)
    lr: float = of(Common, "lr", 1e-5)
    warmup: float = of(Common, "warmup", 0.0)
    decay: float = of(Common, "decay", 0.01)
    dropout: float = param(0.1, "the dropout of the re-ranker", minimum=0, maximum=0.99)
    reranker: Literal["listwise", "pointwise", "static"] = param(
        "listwise", "how the re-ranker learns from labels: by lists, by pairs, or not at all (table 4)"
    )
    direction: Literal["retriever-reranker", "reranker-retriever"] = param(
        "retriever-reranker",
        "the direction of the divergence: that of the paper, or that of its authors' code",
    )
    reaches_reranker: bool = param(True, "whether the divergence trains the re-ranker too")


def resolve(params: Any, facts: Facts) -> Any:
    """The parameters with every model as a folder or commit, and with the device and number format of this
    machine."""
    from harness.toolkit.neural import hardware, models

    device = hardware.device(params.device)
    if device == "cuda" and params.processes > hardware.gpus():
        raise HarnessError(
            f"processes: {params.processes} were asked for, and {hardware.gpus()} GPUs are here; "
            "each process needs one"
        )
    resolved: dict[str, Any] = {"device": device, "dtype": hardware.dtype(params.dtype, device)}
    for name, revision in _models(params):
        at, commit = models.located(getattr(params, name), getattr(params, revision))
        resolved |= {name: at, revision: commit}
    return dataclasses.replace(params, **resolved)


def missing_files(params: Any) -> Sequence[str]:
    from harness.toolkit.neural import models

    return [
        need
        for name, revision in _models(params)
        for need in models.missing_files(getattr(params, name), getattr(params, revision))
    ]


def notes(params: Any) -> Sequence[str]:
    from harness.toolkit.neural import models

    return [
        line
        for name, revision in _models(params)
        for line in models.notes(getattr(params, name), getattr(params, revision))
    ]


def _models(params: Any) -> list[tuple[str, str]]:
    """The names of the parameters that name a model, each with the name of the parameter of its revision."""
    joint = [("init_reranker", "reranker_revision")] if isinstance(params, RocketQAv2Params) else []
    return [("init", "revision"), *joint]


def here(params: Any) -> Any:
    """The parameters with every model as a folder. Missing models are downloaded."""
    from harness.toolkit.neural import models

    folders = {
        name: models.folder(getattr(params, name), getattr(params, revision))
        for name, revision in _models(params)
    }
    return dataclasses.replace(params, **folders)


def build_dual_encoder(params: DualEncoderParams) -> DualEncoder:
    from harness_training.dual_encoder import DualEncoder

    return DualEncoder(here(params))


def build_cross_encoder(params: CrossEncoderParams) -> CrossEncoder:
    from harness_training.cross_encoder import CrossEncoder

    return CrossEncoder(here(params))


def build_rocketqav2(params: RocketQAv2Params) -> RocketQAv2:
    from harness_training.rocketqav2 import RocketQAv2

    return RocketQAv2(here(params))


@hookimpl
def harness_trainers() -> Iterable[Trainer]:
    shared: dict[str, Any] = {
        "needs": ("torch", "transformers", "safetensors", "tokenizers"),
        "extra": "dense",
        "cores": "all",
        "libraries": ("torch", "transformers", "tokenizers", "numpy"),
        "resolve": resolve,
        "missing_files": missing_files,
        "notes": notes,
    }
    yield Trainer(
        name="dual-encoder",
        summary="A bi-encoder, by contrast with in-batch and mined negatives or by distillation",
        build=build_dual_encoder,
        params=DualEncoderParams,
        parts=lambda params: ("query", "passage") if params.untied else ("model",),
        **shared,
    )
    yield Trainer(
        name="prompts",
        version="2",
        summary="Prefixes for every layer of a frozen bi-encoder; only they are trained and stored",
        build="harness_training.prompts:Prompts",
        backbone="init",
        params=PromptsParams,
        parts=lambda params: ("query", "passage") if params.untied else ("model",),
        **shared,
    )
    yield Trainer(
        name="lora",
        version="2",
        summary="Low-rank adapters of a frozen bi-encoder; only they are trained and stored",
        build="harness_training.lora:Lora",
        backbone="init",
        params=LoraParams,
        parts=lambda params: ("query", "passage") if params.untied else ("model",),
        **shared,
    )
    yield Trainer(
        name="cross-encoder",
        summary="A re-ranker of pairs, by single pairs or by lists of a positive and negatives",
        build=build_cross_encoder,
        params=CrossEncoderParams,
        **shared,
    )
    yield Trainer(
        name="rocketqav2",
        summary="A retriever and a re-ranker together, by dynamic listwise distillation",
        build=build_rocketqav2,
        params=RocketQAv2Params,
        parts=lambda params: ("retriever", "reranker"),
        **shared,
    )


@hookimpl
def harness_analyses() -> Iterable[Analysis]:
    yield Analysis(
        name="instances",
        summary="a measure against the number of passages of a query in training (RocketQAv2, figure 4)",
        build="harness_training.instances:Instances",
        libraries=("numpy",),
    )
