"""The findings of a run: of its analyses over the rows that have hits, and the curves of its trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from harness import findings
from harness.execution.schedule import Failure
from harness.findings import Cell, Finding
from harness.plan.graph import Plan, Step
from harness.problems import shown_path
from harness.steps import Train, Validate
from harness.store.artifacts import Store
from harness.types import JSON

LOG = "log.jsonl"  # lines with `step` and `loss`, which a trainer may leave beside its models
POINTS = 50  # points of a loss curve; each is the mean over an equal number of steps
PART = (
    "scored over a part of the corpus, the top of a run and the judged passages: not comparable with scores "
    "over the whole"
)


def of_analyses(
    planned: Plan, steps: Sequence[Step], failures: Mapping[str, Failure], store: Store
) -> tuple[Finding, ...]:
    """The findings of the steps of analyses. That of a failed analysis says so. Raises Corrupt."""
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


def of_trainings(plan: Plan, store: Store) -> tuple[Finding, ...]:
    """The curves of the models whose training steps are in the store."""
    losses: dict[str, list[tuple[Cell, ...]]] = {}
    scores: dict[str, list[tuple[Cell, ...]]] = {}
    flags: dict[str, list[str]] = {}
    measures: dict[str, str] = {}
    for step in plan.steps.values():
        record = step.record
        if not isinstance(record, Train | Validate) or not store.has(step.id):
            continue
        name, seed, artifact = record.recipe, record.seed, store.read(step.id, trust=True)
        if isinstance(record, Train):
            if record.segment + 1 == record.segments:
                losses.setdefault(name, []).extend(_losses(artifact.folder / LOG, seed))
        else:
            facts = artifact.facts["validation"]
            measures[name] = facts["measure"]
            scores.setdefault(name, []).extend(_scores(record, facts["curve"], facts.get("whole"), seed))
            flags.setdefault(name, []).extend(_flags(facts))
    return (
        *(
            Finding(
                name=f"loss/{name}", title=f"Loss of {name}", kind="line", columns=("step", "loss", "seed"),
                rows=tuple(rows), x="step", y="loss", series="seed",
                says=f"The loss on the training data, each point the mean of a {POINTS}th of the steps.",
            )
            for name, rows in losses.items()
            if rows
        ),
        *(
            Finding(
                name=f"validation/{name}", title=f"Checkpoints of {name}", kind="line",
                columns=("checkpoint", measures[name], "seed"), rows=tuple(rows), x="checkpoint",
                y=measures[name], series="seed", flags=tuple(dict.fromkeys(flags[name])),
                says="What each checkpoint scores on the validation split.",
            )
            for name, rows in scores.items()
        ),
    )  # fmt: skip


def _losses(path: Path, seed: int) -> Iterator[tuple[Cell, ...]]:
    if not path.is_file():
        return
    losses = [float(orjson.loads(line)["loss"]) for line in path.read_bytes().splitlines()]
    size = max(1, -(-len(losses) // POINTS))
    for start in range(0, len(losses), size):
        part = losses[start : start + size]
        yield start + len(part), round(sum(part) / len(part), 6), str(seed)


def _scores(
    record: Validate, curve: list[float], whole: list[float] | None, seed: int
) -> Iterator[tuple[Cell, ...]]:
    part = f"{seed}, part of the corpus" if record.shortened is not None else str(seed)
    for label, values in ((part, curve), (f"{seed}, whole corpus", whole or [])):
        for number, value in enumerate(values, 1):
            yield number, round(value, 6), label


def _flags(facts: dict[str, object]) -> list[str]:
    if "corpus" not in facts:
        return []
    tau = facts.get("kendall_tau")
    agreement = [] if tau is None else [f"Kendall's tau of part and whole over the checkpoints: {tau}"]
    return [PART, *agreement]
