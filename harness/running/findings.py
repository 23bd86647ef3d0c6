"""The findings of a suite's analyses over the rows that have hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import findings
from harness.execution.schedule import Failure
from harness.findings import Finding
from harness.plan.graph import Plan, Step
from harness.problems import shown_path
from harness.store.artifacts import Store
from harness.types import JSON


def findings_of_run(
    planned: Plan, steps: Sequence[Step], failures: Mapping[str, Failure], store: Store
) -> tuple[Finding, ...]:
    """The findings of the steps of analyses. An analysis that failed has a finding that says so. Raises
    Corrupt."""
    entries: list[JSON] = []
    names: dict[str, set[str]] = {}  # analysis -> names of its findings
    for step in steps:
        failure = failures.get(step.id)
        of_step = [_failed(step, failure)] if failure else store.read(step.id).facts["analyses"]
        names.setdefault(step.subject, set()).update(entry["name"] for entry in of_step)
        entries += of_step
    analysed = findings.read(entries, shown_path(store.root))
    for name, datasets in planned.suite.together.items():
        chosen = [each for each in analysed if each.name in names.get(name, ())]
        analysed += tuple(findings.together(chosen, datasets))
    return analysed


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
