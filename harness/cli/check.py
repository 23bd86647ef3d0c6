"""`harness check`: every problem of a suite, and what a run of it would need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli import arguments as shared
from harness.problems import Problem

if TYPE_CHECKING:
    from harness.plan.graph import Collection, Row, Step
    from harness.running.preparation import Prepared
    from harness.store.artifacts import Store
    from harness.types import JSON


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=check)
    command.add_argument("suites", type=Path, nargs="+", metavar="SUITE", help="a suite's YAML file")
    data = "read the data too: every fault of every file of every dataset, before anything is run on them"
    command.add_argument("--data", action="store_true", help=data)
    shared.store(command)


def check(options: argparse.Namespace) -> int:
    from harness import catalogue, user_cache
    from harness.cli.run import counts, needs, notes
    from harness.errors import HarnessError, Problems
    from harness.plan.graph import Unplanned
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
            if options.data and isinstance(error, Unplanned):
                problems += read_data(error.steps, store)
            continue
        shared.say(f"{shown_path(prepared.plan.suite.path)}: {counts(prepared, store)}")
        for need in needs(prepared):
            shared.say(f"needs: {need}")
        for note in notes(prepared, records):
            shared.say(f"note: {note}")
        if preparation.refusals(prepared, store):
            shared.say("the suite is right; a run is refused until what it needs is here")
        if options.data:
            problems += read_data(prepared.plan.steps, store, prepared.plan.collections.values())
        for row in prepared.plan.rows:
            if row.error and not _needs_data(prepared, row):
                failing.append(row)
                shared.say(f"fails: {row.dataset} / {row.system}: {row.error}")
    if problems:  # planning has read a part of the data, and may have found the same
        planned = tuple(str(problem) for problem in problems if not isinstance(problem, str))
        raise Problems(
            item
            for item in problems
            if not isinstance(item, str) or not any(text.endswith(item) for text in planned)
        )
    return 1 if failing else 0


def read_data(
    steps: Mapping[str, Step], store: Store, collections: Iterable[Collection] = ()
) -> list[Problem | str]:
    """The problems of the data that these steps read, in worker processes as a run reads it. Prints how much
    was read of each dataset."""
    from harness.errors import HarnessError
    from harness.execution import open_dataset, progress
    from harness.steps.read import Read

    reading = {id: step for id, step in steps.items() if isinstance(step.record, Read) and not step.needs}

    class Reading(progress.Lines):
        """Progress without the reasons of failures, which follow at the end."""

        def failed(self, step: Step, reason: str) -> None:
            self._count(step, "has faults")

    with Reading(sys.stderr) as reporter:
        problems: list[Problem | str] = open_dataset.with_rebuilds(
            steps, reading, lambda failed: [failure.reason for failure in failed.values()], store, reporter
        )
        counts: dict[str, dict[str, JSON]] = {}
        for id, step in reading.items():
            if store.has(id):
                counts.setdefault(step.dataset, {}).update(store.read(id, trust=True).facts)
        for collection in collections:  # whether the parts of a dataset fit each other
            parts = collection.steps
            if parts and all(step in reading and store.has(step) for step in parts.values()):
                spec = collection.spec
                try:
                    opened = open_dataset.opened(
                        open_dataset.read_parts(parts, store), spec.unknown_judgements,
                        open_dataset.place_of(collection),
                    )  # fmt: skip
                    counts[spec.name] = opened.facts
                except HarnessError as error:
                    problems += error.problems
    for name, facts in counts.items():
        shared.say(f"read: {name}: {_counted(facts)}")
    return [line for problem in problems for line in str(problem).splitlines()]


def _counted(facts: Mapping[str, JSON]) -> str:
    names = ("documents", "passages", "queries", "empty_queries", "judgements")
    texts = [f"{facts[name]:,} {name.replace('_', ' ')}" for name in names if facts.get(name)]
    unknown = facts.get("judgements_of_unknown_passages")
    return ", ".join(texts) + (f" ({unknown:,} of passages that the corpus lacks)" if unknown else "")


def _needs_data(prepared: Prepared, row: Row) -> bool:
    return bool(prepared.plan.collections[row.dataset].needs)
