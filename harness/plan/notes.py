"""What the methods of a plan's steps say about their files before a run, such as a model's format."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from harness.catalogue import Catalogue, params
from harness.errors import HarnessError
from harness.plan.graph import Plan
from harness.steps.record import Model, methods_in


def notes(plan: Plan, steps: Container[str], catalogue: Catalogue) -> list[str]:
    """The lines of the methods of these steps, each once."""
    lines: dict[str, None] = {}
    for step in plan.steps.values():
        for method in methods_in(step.record) if step.id in steps else ():
            record = catalogue.find(method.kind, method.name).record
            if record.notes is None or any(isinstance(each.value, Model) for each in method.bound):
                continue  # what is said of a made model is in its training's lines
            values, problems = params.convert(record.params, method.given, Path("/"))
            if problems:
                continue
            try:
                lines |= dict.fromkeys(record.notes(values))
            except HarnessError as error:
                lines[str(error)] = None
    return list(lines)
