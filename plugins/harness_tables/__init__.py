"""The command `harness table`: a leaderboard as a table of a paper, in LaTeX or Typst."""

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
        forms=("latex", "typst"),
    )
