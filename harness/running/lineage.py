"""The steps behind a row, found once: its own, and those that tuned its values and made its models."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from harness.plan.graph import Plan, Row, Step
from harness.steps import Train, Trials, Tune, Validate

TUNING, MAKING = (Tune, Trials), (Train, Validate)


class Lineage(NamedTuple):
    """All in the order of the plan."""

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
