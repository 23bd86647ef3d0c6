"""Plans the steps of one training: its segments, each of which leaves a checkpoint."""

from __future__ import annotations

from pathlib import Path

from harness.made_models import Planned
from harness.plan.graph import Graph
from harness.plan.methods import Resolved
from harness.steps.record import Backbone, Model, Ref
from harness.steps.results import Weights
from harness.steps.train import Source, Train
from harness.suite.models import ModelSpec


def steps(
    graph: Graph, spec: ModelSpec, subject: str, seed: int, trainer: Resolved, sources: tuple[Source, ...]
) -> tuple[Ref[Weights], ...]:
    """The checkpoints in order."""
    segments = spec.validate.checkpoints if spec.validate else 1
    negatives = spec.negatives
    checkpoints: list[Ref[Weights]] = []
    for segment in range(segments):
        record = Train(
            method=trainer.method, sources=sources, seed=seed, segment=segment, segments=segments,
            before=checkpoints[-1] if checkpoints else None,
            take=negatives.take if negatives else 0,
            draw=negatives.draw if negatives else "sample",
            share=negatives.share if negatives else 0.0,
            apart=negatives is not None and negatives.apart,
            queries=spec.queries, backbone=backbone(trainer), recipe=spec.name,
        )  # fmt: skip
        number = f" ({segment + 1} of {segments})" if segments > 1 else ""
        checkpoints.append(graph.add(record, "", subject + number, trainer.needs))
    return tuple(checkpoints)


def backbone(trainer: Resolved) -> Backbone | None:
    """The model without which the trained one cannot be loaded, if it is a folder or a made model."""
    name = trainer.chosen.entry.record.backbone
    value = None if name is None else getattr(trainer.values, name)
    if isinstance(value, Planned):
        return Backbone(Model(value.step, value.part))
    return Backbone(folder=str(value)) if isinstance(value, Path) else None
