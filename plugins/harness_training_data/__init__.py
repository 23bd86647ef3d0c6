"""The command `harness training-data`: converts training data of one trainer to the form of another."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="training-data",
        summary="write training data in another trainer's form",
        arguments="harness_training_data.command:arguments",
        work="harness_training_data.command:convert",
    )
