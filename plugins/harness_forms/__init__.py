"""Leaderboards and datasets in the forms of other tools, and leaderboards of MTEB's results."""

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
        name="export-dataset",
        summary="write a dataset of a suite as files for other tools, as `harness datasets export`",
        arguments="harness_forms.dataset_command:arguments",
        work="harness_forms.dataset_command:run",
        dataset_forms=("beir", "dureader", "t2ranking", "trec", "mteb", "pool"),
    )
    yield Command(
        name="import-mteb",
        summary="make a leaderboard of MTEB's task results",
        arguments="harness_forms.import_command:arguments",
        work="harness_forms.import_command:run",
    )
