"""Trainers of bi-encoders, of cross-encoders, and of both together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from harness.plugin import Analysis, Facts, HarnessError, Trainer, TrainingSize, hookimpl
from harness_training.params import (
    CrossEncoderParams,
    DualEncoderParams,
    Encoder,
    LoraParams,
    PromptsParams,
    RocketQAv2Params,
)

if TYPE_CHECKING:
    from harness_training.cross_encoder import CrossEncoder
    from harness_training.dual_encoder import DualEncoder
    from harness_training.rocketqav2 import RocketQAv2


def steps(params: Any, size: TrainingSize) -> int:
    """The number of steps of a training in which every positive has `size.take` negatives."""
    pairs = size.positives * (size.take + 1 if isinstance(params, CrossEncoderParams) else max(1, size.take))
    count = {"query": size.queries, "positive": size.positives, "pair": pairs}[params.instance]
    epoch = -(-count * (2 if size.apart else 1) // params.batch)
    return int(params.epochs * epoch)


def resolve(params: Any, facts: Facts) -> Any:
    """The parameters with every model as a folder or commit, with what the model to start from says, and with
    the device and number format of this machine."""
    from harness.toolkit.neural import hardware, known_encoders, models
    from harness_training import starts

    device = hardware.device(params.device)
    if device == "cuda" and params.processes > hardware.gpus():
        raise HarnessError(
            f"processes: {params.processes} were asked for, and {hardware.gpus()} GPUs are here; "
            "each process needs one"
        )
    resolved: dict[str, Any] = {"device": device, "dtype": hardware.dtype(params.dtype, device)}
    for name, revision in _models(params):
        model = getattr(params, name)
        known = known_encoders.find(model)
        at, commit = models.located(known.passages if known else model, getattr(params, revision))
        resolved |= {name: at, revision: commit}
    return starts.settled(dataclasses.replace(params, **resolved))


def missing_files(params: Any) -> Sequence[str]:
    from harness.toolkit.neural import models

    return [
        need
        for name, revision in _models(params)
        for need in models.missing_files(getattr(params, name), getattr(params, revision))
    ]


def notes(params: Any) -> Sequence[str]:
    from harness.toolkit.neural import models
    from harness_training import starts

    lines = [
        line
        for name, revision in _models(params)
        for line in models.notes(getattr(params, name), getattr(params, revision))
    ]
    origins = starts.origins(params) if isinstance(params, Encoder) else None
    start = params.init if models.recipe(params.init) is None else "a made model"
    return lines if origins is None else [*lines, f"a training from {start}: {origins}"]


def _models(params: Any) -> list[tuple[str, str]]:
    """The names of the parameters that name a model, each with the name of the parameter of its revision."""
    named = [
        ("init", "revision"),
        ("init_query", "init_query_revision"),
        ("init_reranker", "reranker_revision"),
    ]
    return [pair for pair in named if getattr(params, pair[0], None) is not None]


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
        "steps": steps,
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
        paper="https://arxiv.org/abs/2110.07367",
        summary="A retriever and a re-ranker together, by dynamic listwise distillation",
        build=build_rocketqav2,
        params=RocketQAv2Params,
        parts=lambda params: (*(("query", "passage") if params.untied else ("retriever",)), "reranker"),
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
