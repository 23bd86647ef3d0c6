"""Which steps cost alike for equal amounts of work: those of one kind and method with equal parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from harness import steps
from harness.plan.graph import Step
from harness.steps.record import AnyRecord, Method, Model, method_of, placed
from harness.store.manifest import Artifact
from harness.types import JSON

RecordOf = Callable[[str], AnyRecord | None]  # the record of a step, by the step's id


class Alike(NamedTuple):
    """What steps of the same cost for the same work have in common."""

    kind: str
    method: str
    params: str
    unit: str  # of their texts


def record_in(known: Mapping[str, Step | Artifact]) -> RecordOf:
    return lambda id: known[id].record if id in known else None


def alike(record: AnyRecord, record_of: RecordOf) -> Alike:
    """A trained model costs what the model costs from which its training starts."""
    method = method_of(record)
    unit = record.texts.unit if isinstance(record, steps.Index | steps.Rerank | steps.Rewrite) else ""
    if method is None:
        return Alike(record.kind, "None", "[]", unit)
    return Alike(record.kind, method.name, str(sorted(_params(method, record_of).items())), unit)


def _params(method: Method, record_of: RecordOf) -> dict[str, JSON]:
    """The parameters, with each trained model replaced by the model from which its training starts."""
    return placed(
        method.params,
        method.bound,
        lambda value: _start(value, record_of) if isinstance(value, Model) else value.name,
    )


def _start(model: Model, record_of: RecordOf) -> JSON:
    """The model from which a training starts: the trainer's parameter `init_PART`, else `init`."""
    record = record_of(model.step)
    if isinstance(record, steps.Validate):
        record = record_of(record.checkpoints[0].step)
    if not isinstance(record, steps.Train):
        return model.step
    params = _params(record.method, record_of)
    return params.get(f"init_{model.part}", params.get("init", model.step))
