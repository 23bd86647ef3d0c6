"""Runs the analyses of a suite over the rows that exist, and reads their findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import findings
from harness.execution.engine import limits_of
from harness.execution.open_dataset import with_rebuilds
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure
from harness.execution.workers import Workers
from harness.findings import Finding
from harness.plan import analyse
from harness.plan.graph import Plan, Step
from harness.problems import shown_path
from harness.records import Column
from harness.running import rows
from harness.store.artifacts import Store
from harness.types import JSON


def findings_of_run(
    planned: Plan,
    columns: Sequence[Column],
    store: Store,
    out: Path,
    reporter: Reporter,
    jobs: int,
    fresh: bool,
    workers: Workers | None,
) -> tuple[tuple[Finding, ...], list[Failure]]:
    """The findings of the suite's analyses over the rows that are there, and the failures. An analysis that
    fails has a finding that says so."""
    shown = rows.shown_rows(planned, store, out)
    with_hits = [row for row in shown if row.hits is not None and store.has(row.hits)]
    steps = {step.id: step for step in analyse.steps(planned, with_hits, columns)}
    for step in steps if fresh else ():
        store.discard(step)
        store.forget(step)

    def read(failures: Mapping[str, Failure]) -> tuple[tuple[Finding, ...], list[Failure]]:
        entries: list[JSON] = []
        names: dict[str, set[str]] = {}  # analysis -> names of its findings
        for step in steps.values():
            failure = failures.get(step.id)
            of_step = [_failed(step, failure)] if failure else store.read(step.id).facts["analyses"]
            names.setdefault(step.subject, set()).update(entry["name"] for entry in of_step)
            entries += of_step
        analysed = findings.read(entries, shown_path(store.root))
        for name, datasets in planned.suite.together.items():
            chosen = [each for each in analysed if each.name in names.get(name, ())]
            analysed += tuple(findings.together(chosen, datasets))
        return analysed, list(failures.values())

    limits, every = limits_of(planned.suite), {**planned.steps, **steps}
    return with_rebuilds(every, list(steps), read, store, reporter, jobs, limits, workers)


def _failed(step: Step, failure: Failure) -> JSON:
    name, dataset = step.subject, step.dataset
    return findings.entry(
        Finding(
            name=f"{name}/{dataset}",
            title=f"{name}: failed",
            kind="table",
            columns=("error",),
            rows=((failure.reason,),),
            dataset=dataset,
            flags=("failed",),
        )
    )
