"""The command `harness import-model`: checkpoints of other toolkits as folders that transformers can read."""

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
