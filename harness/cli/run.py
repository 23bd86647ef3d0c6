"""`harness run` and `harness check`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from harness import api, catalogue, runner
from harness.execution import progress
from harness.leaderboard import text_tables
from harness.plan.needs import described
from harness.problems import shown_path
from harness.runner import Prepared
from harness.store.artifacts import Store


def run(options: argparse.Namespace) -> int:
    store = Store(options.store or api.default_store()).open()
    found = catalogue.load()
    prepared = runner.read(options.suite, found, store, options.only)
    if options.dry_run:
        print("\n".join(dry_run(prepared, store)))
        return 0
    reporter = progress.reporter(sys.stderr)
    out: Path = options.out or prepared.plan.suite.path.parent
    try:
        outcome = runner.execute(prepared, store, out, reporter, options.jobs, options.fresh, options.replace)
    finally:
        reporter.close()
    print(text_tables.render(outcome.leaderboard, "table"))
    print(f"leaderboard: {shown_path(outcome.path.absolute())}")
    return outcome.exit_code


def check(options: argparse.Namespace) -> int:
    store = Store(options.store or api.default_store()).open()
    found = catalogue.load()
    prepared = runner.read(options.suite, found, store)
    planned = prepared.plan
    print(f"{shown_path(planned.suite.path)}: {_numbers(prepared, store)}")
    for need in _needs(prepared):
        print(f"needs: {need}")
    if runner.refusals(prepared, store):
        print("the suite is right; a run is refused until what it needs is here")
    return 0


def dry_run(prepared: Prepared, store: Store) -> Iterable[str]:
    """The plan in the order of work: what is there, what is shared, what is not here."""
    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    used = planned.used_by()
    yield f"{planned.suite.name}: {_numbers(prepared, store)}"
    yield ""
    for step in planned.steps.values():
        if step.id in ancestors:
            state = "there" if store.has(step.id) else "to do"
            shared = f"  (shared by {used[step.id]} rows)" if used[step.id] > 1 else ""
            yield f"  {state}  {step.key[:12]}  {step.label}{shared}"
    if planned.analyses:
        names = ", ".join(analysis.name for analysis in planned.analyses)
        yield f"  then, over the rows that ran: {names}"
    for row in planned.rows:
        if row.error:
            yield f"  fails  {row.dataset} / {row.system}: {row.error}"
    for need in _needs(prepared):
        yield f"  needs: {need}"


def _numbers(prepared: Prepared, store: Store) -> str:
    rows = [row for row in prepared.plan.rows if row.selected]
    ancestors = prepared.plan.ancestors(prepared.targets)
    there = sum(store.has(step) for step in ancestors)
    return (
        f"{len(rows)} rows from {len(ancestors)} steps, {there} there already, {len(ancestors) - there} to do"
    )


def _needs(prepared: Prepared) -> list[str]:
    """What is not here of all that the chosen rows rest on, be it in the store already or not."""
    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    needs = [need for step in planned.steps.values() if step.id in ancestors for need in step.needs]
    return described(planned, [*needs, *prepared.needs])
