"""`harness check`: every problem of a suite, and what a run of it would need."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli import arguments as shared


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
    return 0
