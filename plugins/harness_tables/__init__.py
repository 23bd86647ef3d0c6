"""A leaderboard as tables: for a paper, of what context costs, and for pandas or a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Command, hookimpl


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="table",
        summary="print a leaderboard as a table for a paper, in LaTeX or Typst",
        arguments="harness_tables.command:arguments",
        work="harness_tables.command:run",
        formats=("latex", "typst"),
    )
    yield Command(
        name="preprocessing",
        summary="print what the context-augmenters of a leaderboard cost",
        arguments="harness_tables.preprocessing:arguments",
        work="harness_tables.preprocessing:run",
    )
    yield Command(
        name="csv",
        summary="write the rows of a leaderboard and its values of queries as CSV",
        arguments="harness_tables.values:arguments",
        work="harness_tables.values:run",
        forms=("csv",),
    )
