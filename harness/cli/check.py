"""`harness check`: every problem of a suite, and what a run of it would need."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli import arguments as shared

if TYPE_CHECKING:
    from harness.plan.graph import Row
    from harness.runner import Prepared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=check)
    command.add_argument("suite", type=Path, metavar="SUITE")
    shared.store(command)


def check(options: argparse.Namespace) -> int:
    from harness import catalogue, runner, user_cache
    from harness.cli.run import counts, needs
    from harness.problems import shown_path
    from harness.store.artifacts import Store

    store = Store(options.store or user_cache.default_store()).open()
    prepared = runner.read(options.suite, catalogue.load(), store)
    print(f"{shown_path(prepared.plan.suite.path)}: {counts(prepared, store)}")
    for need in needs(prepared):
        print(f"needs: {need}")
    if runner.refusals(prepared, store):
        print("the suite is right; a run is refused until what it needs is here")
    failing = [row for row in prepared.plan.rows if row.error and not _needs_data(prepared, row)]
    for row in failing:
        print(f"fails: {row.dataset} / {row.system}: {row.error}")
    return 1 if failing else 0


def _needs_data(prepared: Prepared, row: Row) -> bool:
    return bool(prepared.plan.collections[row.dataset].needs)
