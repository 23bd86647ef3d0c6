"""The provenance of a row: the steps behind it, and how its leaderboard records them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from harness.catalogue import OWN
from harness.leaderboard import model
from harness.leaderboard.model import Provenance
from harness.made_models import shown
from harness.plan.graph import Plan, Row, Step
from harness.plan.keys import library
from harness.steps import MadePart, Subset, Train, Trials, Tune, Validate
from harness.steps.record import AnyRecord, Found, Method, Model, Uses, method_of, placed, steps_in
from harness.types import JSON

TUNING, MAKING = (Tune, Trials), (Train, Validate)


class Lineage(NamedTuple):
    """The steps behind a row, in the order of the plan."""

    every: tuple[Step, ...]
    own: tuple[Step, ...]  # without what is behind a tuning, a training or the making of a collection
    tuning: tuple[Step, ...]  # the tuning of values, and what is run for it alone
    making: tuple[Step, ...]  # the trainings with their validation, and what is run for them alone


def lineage(row: Row, plan: Plan) -> Lineage:
    if row.hits is None:
        return Lineage((), (), (), ())
    every = plan.ancestors([row.hits])
    own = plan.ancestors([row.hits], stop_at=lambda step: step.record.is_apart)
    tuned = [id for id in own if isinstance(plan.steps[id].record, TUNING)]
    made = {id for id in every if isinstance(plan.steps[id].record, MAKING)}
    ranking = plan.ancestors([row.hits], stop_at=lambda step: isinstance(step.record, MAKING))

    def steps(ids: Collection[str]) -> tuple[Step, ...]:
        return tuple(step for id, step in plan.steps.items() if id in ids)

    return Lineage(
        steps(every),
        steps(own),
        steps({*(plan.ancestors(tuned) - own), *tuned}),
        steps(plan.ancestors([*made]) - (ranking - made)),
    )


def provenance(row: Row, plan: Plan, steps: Sequence[Step]) -> Provenance:
    """The provenance of a row that needs these steps."""
    if row.hits is None:
        return Provenance(None, plan.suite.seed)
    return Provenance(plan.steps[row.hits].key, plan.suite.seed, tuple(_step(step) for step in steps))


def name_of(step: Step) -> str:
    """The method of a step; the kind, if the harness itself does the step."""
    method = method_of(step.record)
    return step.kind if method is None else method.name


def _step(step: Step) -> model.Step:
    method, record = method_of(step.record), step.record
    if method is None:
        names = (name for name in record.__struct_fields__ if not steps_in(getattr(record, name)))
        params = {name: record.keyed[name] for name in names if name in record.keyed}
        return model.Step(
            step=_kind(record), key=step.key, name=step.kind, version=str(record.format), sources=None,
            libraries={}, params=params, plugin=f"{OWN} {library(OWN)}",
        )  # fmt: skip
    content = {**_uses(method), "params": params_of(method), "plugin": method.plugin}
    if method.uses:
        content["uses"] = [_uses(used) for used in method.uses]
    if isinstance(record, Train):
        content["training"] = {
            "seed": record.seed, "segment": [record.segment, record.segments], "take": record.take,
            "draw": record.draw, "share": record.share, "queries": record.queries,
        }  # fmt: skip
    return model.Step(step=step.kind, key=step.key, **content)


def _kind(record: AnyRecord) -> str:
    """The kind of a step as rows have it. All steps that make one part of a collection have the part's."""
    if isinstance(record, MadePart):
        return record.part
    return "corpus" if isinstance(record, Subset) else record.kind


def _uses(uses: Uses) -> dict[str, JSON]:
    return {
        "name": uses.name, "version": uses.version, "sources": uses.sources, "libraries": uses.libraries,
        "params": uses.params,
    }  # fmt: skip


def params_of(method: Method) -> dict[str, JSON]:
    """The parameters of a method. What other steps make is named by these steps."""
    return placed(method.params, method.bound, _text)


def _text(value: Found | Model) -> str:
    return shown(value.step, value.part) if isinstance(value, Model) else f"tuned:{value.step}/{value.name}"
