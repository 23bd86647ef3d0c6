"""Leaderboards in the forms of other tools, by the command `export`; results of MTEB, by `import-mteb`."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="export",
        summary="write a leaderboard in the forms of other tools",
        arguments="harness_forms.export_command:arguments",
        work="harness_forms.export_command:run",
    )
    yield Command(
        name="import-mteb",
        summary="make a leaderboard of MTEB's task results",
        arguments="harness_forms.import_command:arguments",
        work="harness_forms.import_command:run",
    )
