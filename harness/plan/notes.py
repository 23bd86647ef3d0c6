"""What the methods of a plan's steps say about their files before a run, such as a model's format."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from harness.catalogue import Catalogue, params
from harness.errors import HarnessError
from harness.made_models import Planned
from harness.plan.graph import Plan
from harness.records import Trainer
from harness.steps import Train, Validate
from harness.steps.record import Found, Model, methods_in, placed


def notes(plan: Plan, steps: Container[str], catalogue: Catalogue) -> list[str]:
    """The lines of the methods of these steps, each once."""
    lines: dict[str, None] = {}

    def model(value: Found | Model) -> Planned:
        assert isinstance(value, Model)
        training = plan.steps[value.step].record
        if isinstance(training, Validate):
            training = plan.steps[training.checkpoints[0].step].record
        assert isinstance(training, Train)
        return Planned(value.step, value.part, training.method.given)

    for step in plan.steps.values():
        for method in methods_in(step.record) if step.id in steps else ():
            record = catalogue.find(method.kind, method.name).record
            made = [each for each in method.bound if isinstance(each.value, Model)]
            if record.notes is None or (made and not isinstance(record, Trainer)):
                continue  # what is said of a made model is in its training's lines
            given = placed(method.given, made, model)
            values, problems = params.convert(record.params, given, Path("/"))
            if problems:
                continue
            try:
                lines |= dict.fromkeys(record.notes(values))
            except HarnessError as error:
                lines[str(error)] = None
    return list(lines)
