"""Finished hits -> rows of a leaderboard: scores, run files, per-query values, cost and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.execution.open_dataset import Opened
from harness.execution.steps import checked
from harness.plan.graph import Collection, Plan, Row, Step
from harness.plan.kinds import METHODS
from harness.scoring import answers, bounds, run_files, score
from harness.scoring.protocols import Scoring
from harness.scoring.rules import Rules, scores_of
from harness.scoring.score import Documents
from harness.store import disk, hits_files
from harness.store.artifacts import Store
from harness.types import JSON, Hits, Unit


def dataset_block(collection: Collection, opened: Opened | None) -> dict[str, JSON]:
    card = collection.card
    return {
        "name": collection.spec.name,
        "split": card.split,
        "plugin": collection.spec.chosen.name,
        "params": collection.spec.chosen.given,
        "language": card.language,
        "query_language": card.query_language or card.language,
        "licence": card.licence,
        "citation": card.citation,
        "url": card.url,
        "notes": list(card.notes),
        "unknown_judgements": collection.spec.unknown_judgements,
        "counts": opened.facts if opened else {},
        "digests": {part: step.partition("-")[2] for part, step in collection.parts.items()},
        "contents": opened.contents if opened else {},
    }


def row_block(row: Row, plan: Plan, scoring: Scoring) -> dict[str, JSON]:
    """What a row holds whether it succeeded or not."""
    system = plan.suite.system(row.system)
    grid = system.varied and row.split == "test"
    flags = (
        ["one of a grid scored on the test split: choosing the best of it selects on test"] if grid else []
    )
    if row.hits is not None and any(
        plan.steps[step].kind == "tune" and plan.steps[step].work["folds"]
        for step in plan.ancestors([row.hits])
    ):
        flags.append("tuned across folds of the split that it is scored on")
    if not scoring.of_unit(row.unit):
        flags.append("it ranks documents, for which the protocol has no column")
    return {
        "dataset": row.dataset,
        "split": row.split,
        "system": row.system,
        "unit": row.unit,
        "protocol": scoring.protocol.name if scoring.protocol else None,
        "origin": "run",
        "status": "ok",
        "error": None,
        "flags": flags,
        "measures": {},
        "slices": {},
        "scored": {},
        "limits": {},
        "reported": [],
        "tuning": [],
        "files": {},
        "provenance": provenance(row, plan),
        "cost": {},
    }


def provenance(row: Row, plan: Plan) -> dict[str, JSON]:
    """What the numbers of a row rest on: every step of it, with the methods and what they resolved to."""
    if row.hits is None:
        return {"fingerprint": None, "seed": plan.suite.seed, "steps": []}
    ancestors = plan.ancestors([row.hits])
    steps = []
    for step in plan.steps.values():  # in the plan's order
        if step.id in ancestors:
            plugin = {"plugin": step.work["method"]["plugin"]}
            steps.append({"step": step.kind, "key": step.key, **step.described["method"], **plugin})
    return {"fingerprint": row.hits.partition("-")[2], "seed": plan.suite.seed, "steps": steps}


def reported(row: Row, plan: Plan, store: Store) -> list[JSON]:
    """What the methods of a row tell of their work: passages changed, texts cut short and the like."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    found = []
    for step in plan.steps.values():
        told = store.read(step.id, trust=True).facts.get("reported") if step.id in ancestors else None
        if told:
            found.append({"step": step.kind, "method": step.described["method"]["name"], "facts": told})
    return found


def tuning(row: Row, plan: Plan, store: Store) -> list[JSON]:
    """Every tuned parameter of a row: what was tried on what, the whole curve and what was chosen."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    steps = [step for step in plan.steps.values() if step.kind == "tune" and step.id in ancestors]
    return [
        {"key": step.key, "on": step.work["on"], **store.read(step.id, trust=True).facts["tuning"]}
        for step in steps
    ]


def cost(row: Row, plan: Plan, store: Store) -> dict[str, JSON]:
    """The sum of the first executions of a row's own steps; making the dataset columnar is not counted."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits], stop_at=lambda step: step.kind == "tune")
    costs = [
        (step.kind, store.read(step.id, trust=True).cost)
        for step in plan.steps.values()
        if step.id in ancestors
    ]
    own = [(kind, found) for kind, found in costs if kind in METHODS]
    total: dict[str, JSON] = {
        "seconds": round(sum(found["seconds"] for _, found in own), 3),
        "cpu_seconds": round(sum(found["cpu_seconds"] for _, found in own), 3),
        "peak_mb": max(found["peak_mb"] for _, found in own),
        "bytes": sum(found["bytes"] for _, found in own),
    }
    compiling = sum(found.get("compile_seconds", 0) for _, found in own)
    if compiling:
        total["compile_seconds"] = round(compiling, 3)  # once a store, and not in `seconds`
    elsewhere = plan.ancestors([row.hits]) - ancestors
    tuned = [step.id for step in plan.steps.values() if step.kind == "tune" and step.id in ancestors]
    if tuned:  # what finding the values took, beside the row's own steps
        spent = sum(store.read(step, trust=True).cost["seconds"] for step in {*elsewhere, *tuned})
        total["tuning_seconds"] = round(spent, 3)
    contexts = {step.described["method"]["name"]: step.id for step in plan.steps.values()
                if step.kind == "augment" and step.id in ancestors}  # fmt: skip
    if contexts:
        spent_on = {name: store.read(step, trust=True).cost for name, step in contexts.items()}
        total["contexts"] = {
            name: {
                "seconds": round(found["seconds"], 3),
                "words_per_second": round(found.get("words", 0) / max(found["seconds"], 1e-6), 1),
            }
            for name, found in spent_on.items()
        }
    for kind in METHODS:
        seconds = [found["seconds"] for other, found in own if other == kind]
        if seconds:
            total[f"{kind}_seconds"] = round(sum(seconds), 3)
    latency = [found["latency_ms"] for kind, found in own if kind == "search" and "latency_ms" in found]
    if latency:
        total["search_latency_ms"] = {
            name: round(sum(found[name] for found in latency), 3) for name in ("p50", "p95")
        }
    return total


def scored_row(
    row: Row, plan: Plan, scoring: Scoring, opened: Opened, store: Store, out: Path, before: JSON
) -> dict[str, JSON]:
    """A row with all its numbers; writes its run and per-query values below `out`. `before` is the row
    that stood there: its run is not written again if it is the same ranking and the file is whole."""
    assert row.hits is not None
    block = row_block(row, plan, scoring)
    hits = hits_files.load(store.read(row.hits))
    labels = np.load(store.read(row.labels).folder / "labels.npy") if row.labels else None
    below = _below(plan.steps[row.hits], store)
    numbers, per_query = scored(hits, opened, scoring, plan.suite.seed, labels, below)
    block.update(numbers)
    ids_of = opened.corpus.ids if row.unit == "passage" else opened.corpus.document_ids
    run = Path("runs", row.dataset, f"{row.system}.run.gz")
    values = Path("per-query", row.dataset, f"{row.system}.tsv")
    for path in (run, values):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
    if not _written(out / run, before, block["provenance"]["fingerprint"]):
        with disk.replacing(out / run) as beside:  # another run may write and read the same files
            run_files.write_run(beside, opened.queries.ids, ids_of, hits, run_files.tag_of(row.system))
    with disk.replacing(out / values) as beside:
        beside.write_bytes(per_query)
    block["files"] = {
        name: {"path": path.as_posix(), "sha256": disk.sha256(out / path)}
        for name, path in (("run", run), ("per_query", values))
    }
    block["reported"] = reported(row, plan, store)
    block["tuning"] = tuning(row, plan, store)
    block["cost"] = cost(row, plan, store)
    return block


def _below(step: Step, store: Store) -> bounds.Below | None:
    """What a re-ranker was given."""
    if step.kind != "rerank":
        return None
    hits = hits_files.load(store.read(hits_files.among(step.work["inputs"])[0]))
    return bounds.Below(hits, step.work["depth"], step.work["tail"] == "keep")


def scored(
    hits: Hits,
    opened: Opened,
    scoring: Scoring,
    seed: int,
    labels: answers.Labels | None = None,
    below: bounds.Below | None = None,
) -> tuple[dict[str, JSON], bytes]:
    """A row's `measures`, `slices`, `scored` and `limits`, and its per-query values. `labels` are those of
    `harness.scoring.answers` if they are known already; `below` is the re-ranker's input."""
    corpus, judged = opened.corpus, opened.judged
    documents = Documents(corpus.document_of, corpus.document_rank)
    by_answers = scoring.by_answers and hits.unit == "passage"
    how = Rules(depth=scoring.depth, by_answers=scoring.by_answers)
    scores = scores_of(
        how, hits, judged, scoring.of_unit(hits.unit), corpus, opened.queries, scoring.own, labels
    )
    slices = {}
    for name, mask in opened.slices.items():
        chosen = mask[scores.queries]
        if chosen.any():
            summaries = _summaries(score.summarise(scores, seed, chosen))
            slices[name] = {"queries": int(chosen.sum()), "measures": summaries}
    numbers = {
        "measures": _summaries(score.summarise(scores, seed)),
        "slices": slices,
        "scored": scores.facts._asdict(),
        "limits": {},
    }
    if not by_answers:  # whose judgements are of what the run found alone
        units: tuple[Unit, ...] = ("passage", "document")
        excluded = {unit: checked.excluded(corpus, opened.queries, unit) for unit in units}
        findable = bounds.Findable(corpus.candidate, excluded)
        found = bounds.limits(scores, findable, documents, own=scoring.own, depth=scoring.depth, below=below)
        numbers["limits"] = {label: item._asdict() for label, item in found.items()}
    return numbers, _values([opened.queries.ids[i] for i in scores.queries.tolist()], scores.columns)


def _written(path: Path, before: JSON, fingerprint: str) -> bool:
    if not before or before["provenance"]["fingerprint"] != fingerprint or not path.is_file():
        return False
    return bool(before["files"].get("run", {}).get("sha256") == disk.sha256(path))


def _summaries(found: dict[str, Any]) -> dict[str, JSON]:
    return {
        label: {"mean": item.mean, "ci95": [item.low, item.high], "queries": item.queries}
        for label, item in found.items()
    }


def _values(queries: Sequence[str], columns: Sequence[score.Scored]) -> bytes:
    """One line a query, one column a measure; a ratio of sums has its numerator and denominator."""
    heads, values = ["query"], []
    for column in columns:
        if column.average == "ratio":
            heads += [f"{column.column.label} numerator", f"{column.column.label} denominator"]
            values += [column.numerator, column.denominator]
        else:
            heads.append(column.column.label)
            values.append(column.values)
    lines = ["\t".join(heads)]
    table = [value.tolist() for value in values]
    lines += ["\t".join([name, *(repr(column[i]) for column in table)]) for i, name in enumerate(queries)]
    return ("\n".join(lines) + "\n").encode()
