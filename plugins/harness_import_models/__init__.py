"""Checkpoints of other toolkits: `import-model` turns one into a folder that transformers can read, and
`validate` evaluates those that a trainer writes."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="import-model",
        summary="turn another toolkit's checkpoint into a folder that transformers can read",
        arguments="harness_import_models.command:arguments",
        work="harness_import_models.command:run",
    )
    yield Command(
        name="validate",
        summary="evaluate the checkpoints of another trainer as they appear",
        arguments="harness_import_models.validate_command:arguments",
        work="harness_import_models.validate_command:run",
    )
