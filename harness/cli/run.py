"""`harness run`: runs a suite and writes its leaderboard."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli import arguments as shared
from harness.cli.kinds import ENGINES
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.catalogue import Catalogue
    from harness.running.preparation import Prepared
    from harness.store.artifacts import Store


CHANGES = 20  # how many changed rows are shown


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    command.add_argument("suite", type=Path, metavar="SUITE", help="the suite's YAML file")
    out = "where the leaderboard goes (default: beside the suite; of a trial, in trial/ there)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)
    dry = "print the plan: every step, and which of them are in the store"
    command.add_argument("--dry-run", action="store_true", help=dry)
    estimate = "with --dry-run: what each step will cost, from what such steps have cost in this store"
    command.add_argument("--estimate", action="store_true", help=estimate)
    calibrate = (
        "with --estimate: do a little of each step's work first, for a second or so each, to measure it"
    )
    command.add_argument("--calibrate", action="store_true", help=calibrate)
    only = "run only the rows whose system, dataset or DATASET/SYSTEM matches, and keep the other rows of "
    only += "the leaderboard as they are (may be repeated)"
    command.add_argument("--only", action="append", default=[], metavar="GLOB", help=only)
    execution(command)


def execution(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of all commands that run a suite."""
    going = "run what can be run: rows whose data, models or packages are not here fail"
    command.add_argument("--keep-going", action="store_true", help=going)
    other = "overwrite the leaderboard of another suite in that folder, and remove its runs"
    command.add_argument("--replace", action="store_true", help=other)
    command.add_argument("--fresh", action="store_true", help="do every step again")
    jobs = "steps at once (default 1: undisturbed timings; with Ray: the cluster's cores)"
    command.add_argument("--jobs", type=shared.count, metavar="N", help=jobs)
    engine = "where steps run: here, or a Ray cluster (default: local, or HARNESS_ENGINE)"
    command.add_argument("--engine", choices=ENGINES, help=engine)
    address = "the Ray cluster, as ray://HOST:PORT or HOST:PORT (default: RAY_ADDRESS, or this machine)"
    command.add_argument("--address", metavar="ADDRESS", help=address)
    ship = "with Ray: send the code of the harness and of all plugins to the nodes"
    command.add_argument("--ship", action="store_true", help=ship)
    shared.changes(command)
    shared.store(command)
    shared.remote(command)
    kept = "fetch from the remote, and push nothing to it"
    command.add_argument("--no-push", action="store_true", help=kept)


def run(options: argparse.Namespace) -> int:
    from harness import api, catalogue
    from harness.running import preparation

    store = api.opened_store(options.store, options.remote, push=not options.no_push)
    records = catalogue.load()
    prepared = preparation.read(options.suite, records, store, options.only, shared.changes_of(options))
    if options.estimate and not options.dry_run:
        raise HarnessError("--estimate: is for a plan that is not run; add --dry-run")
    if options.calibrate and not options.estimate:
        raise HarnessError("--calibrate: is for an estimate; add --dry-run --estimate")
    if options.estimate:
        from harness.cli.estimate import estimated

        return estimated(prepared, store, options)
    if options.dry_run:
        shared.say("\n".join(dry_run(prepared, store)))
        for note in notes(prepared, records):
            shared.say(f"  note: {note}")
        return 0
    for note in notes(prepared, records, store):
        print(f"note: {note}", file=sys.stderr)
    out: Path = options.out or preparation.default_folder(prepared.plan.suite)
    return carried_out(prepared, store, out, options)


def carried_out(prepared: Prepared, store: Store, out: Path, options: argparse.Namespace) -> int:
    """Runs a prepared suite, prints the leaderboard, and returns the exit code."""
    from harness.execution import progress, workers
    from harness.leaderboard import history, text_tables
    from harness.problems import shown_path
    from harness.running import suite_run

    with (
        progress.reporter(sys.stderr) as reporter,
        store.leases.held(prepared.plan.steps),
        workers.of_engine(
            store, options.engine, options.address, options.jobs, options.ship, options.fresh
        ) as at_work,
    ):
        outcome = suite_run.execute(
            prepared, store, out, reporter, options.jobs or 1, options.fresh, options.replace,
            options.keep_going, at_work,
        )  # fmt: skip
    shared.say(text_tables.render(outcome.leaderboard, "table"))
    if outcome.changes:
        shared.say(f"changed since the previous leaderboard, which is kept in {history.FOLDER}/:")
        for line in outcome.changes[:CHANGES]:
            shared.say(f"  {line}")
        if len(outcome.changes) > CHANGES:
            shared.say(f"  and {len(outcome.changes) - CHANGES} more rows")
    shared.say(f"leaderboard: {shown_path(outcome.path.absolute())}")
    return outcome.exit_code


def dry_run(prepared: Prepared, store: Store) -> Iterator[str]:
    """Lines on the plan in the order of work: which steps are done, which are shared, and what is missing."""
    from harness.running import index_disk, training_steps

    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    used = planned.used_by()
    yield f"{planned.suite.name}: {counts(prepared, store)}"
    yield ""
    for step in planned.steps.values():
        if step.id in ancestors:
            state = "there" if store.has(step.id) else "to do"
            shared_by = f"  (shared by {used[step.id]} rows)" if used[step.id] > 1 else ""
            yield f"  {state}  {step.key[:12]}  {step.label}{shared_by}"
    yield from training_steps.lines(planned, store)
    if planned.analyses:
        names = ", ".join(analysis.name for analysis in planned.analyses)
        yield f"  then, over the rows that ran: {names}"
    yield from index_disk.lines(list(index_disk.indexes(prepared, store)), store.root)
    for row in planned.rows:
        if row.error:
            yield f"  fails  {row.dataset} / {row.system}: {row.error}"
    for need in needs(prepared):
        yield f"  needs: {need}"


def counts(prepared: Prepared, store: Store) -> str:
    rows = [row for row in prepared.plan.rows if row.selected]
    ancestors = prepared.plan.ancestors(prepared.targets)
    done = sum(store.has(step) for step in ancestors)
    return (
        f"{len(rows)} rows from {len(ancestors)} steps, {done} there already, {len(ancestors) - done} to do"
    )


def notes(prepared: Prepared, catalogue: Catalogue, store: Store | None = None) -> list[str]:
    """What the methods of the selected rows say about their files; with a store, those of missing steps."""
    from harness.plan.notes import notes

    steps = prepared.plan.ancestors(prepared.targets)
    return notes(prepared.plan, [step for step in steps if store is None or not store.has(step)], catalogue)


def needs(prepared: Prepared) -> list[str]:
    """Every need of the selected rows, whether or not the store has their steps."""
    from harness.plan.needs import described

    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    of_steps = [need for step in planned.steps.values() if step.id in ancestors for need in step.needs]
    return described(planned, [*of_steps, *prepared.needs])
