"""`harness check`: every problem of a suite, and what a run of it would need."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli import arguments as shared

if TYPE_CHECKING:
    from harness.plan.graph import Row
    from harness.running.preparation import Prepared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=check)
    command.add_argument("suites", type=Path, nargs="+", metavar="SUITE", help="a suite's YAML file")
    shared.store(command)


def check(options: argparse.Namespace) -> int:
    from harness import catalogue, user_cache
    from harness.cli.run import counts, needs, notes
    from harness.errors import HarnessError, Problems
    from harness.problems import Problem, shown_path
    from harness.running import preparation
    from harness.store.artifacts import Store

    store = Store(options.store or user_cache.default_store()).open()
    records, problems = catalogue.load(), list[Problem | str]()
    failing: list[Row] = []
    for path in options.suites:
        try:
            prepared = preparation.read(path, records, store)
        except HarnessError as error:
            problems += error.problems
            continue
        shared.say(f"{shown_path(prepared.plan.suite.path)}: {counts(prepared, store)}")
        for need in needs(prepared):
            shared.say(f"needs: {need}")
        for note in notes(prepared, records):
            shared.say(f"note: {note}")
        if preparation.refusals(prepared, store):
            shared.say("the suite is right; a run is refused until what it needs is here")
        for row in prepared.plan.rows:
            if row.error and not _needs_data(prepared, row):
                failing.append(row)
                shared.say(f"fails: {row.dataset} / {row.system}: {row.error}")
    if problems:
        raise Problems(problems)
    return 1 if failing else 0


def _needs_data(prepared: Prepared, row: Row) -> bool:
    return bool(prepared.plan.collections[row.dataset].needs)
