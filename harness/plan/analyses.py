"""The steps of a suite's analyses: planned once it is known which systems ran, over those that did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import keys, params
from harness.graph import Collection, Plan, Row, Step
from harness.plan.base import FORMATS
from harness.records import Column
from harness.types import JSON


def steps(plan: Plan, rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[Step]:
    """A step for each analysis of each dataset that has rows; `rows` are those whose hits are there."""
    for name, collection in plan.collections.items():
        own = [row for row in rows if row.dataset == name and row.hits is not None]
        for analysis in plan.analyses if own else ():
            yield _step(plan, collection, own, columns, analysis)


def _step(
    plan: Plan, collection: Collection, rows: Sequence[Row], columns: Sequence[Column], analysis: JSON
) -> Step:
    name = collection.spec.name
    systems = [_system(plan, row) for row in rows]
    parts = [collection.parts[part] for part in ("corpus", "queries", "judgements")]
    stages = [step for system in systems for step in system["texts"]["stages"]]
    inputs = tuple(dict.fromkeys([*parts, *(row.hits for row in rows if row.hits), *stages]))
    shown = [[column.measure, column.unit] for column in columns]
    described = {
        "kind": "analyse",
        "format": FORMATS["analyse"],
        "method": analysis["described"],
        "dataset": name,
        "systems": [[row.system, row.hits] for row in rows],
        "columns": shown,
        "inputs": list(inputs),
    }
    work = {
        "method": analysis["work"],
        "dataset": name,
        "language": collection.card.language,
        "notes": list(collection.card.notes),
        "systems": systems,
        "columns": shown,
        "inputs": list(inputs),
    }
    label = f"analyse · {name} · {analysis['work']['name']}"
    return Step("analyse", keys.key(described), label, described, work, inputs, tuple(analysis["needs"]))


def _system(plan: Plan, row: Row) -> JSON:
    assert row.hits is not None
    step, cone = plan.steps[row.hits], plan.cone([row.hits])
    telling = [item for item in plan.steps.values() if item.id in cone and item.kind in ("augment", "index")]
    texts = row.texts or {}
    return {
        "name": row.system,
        "unit": row.unit,
        "hits": row.hits,
        "texts": texts,
        "context": [plan.steps[stage].described["method"]["name"] for stage in texts.get("stages", ())],
        "telling": [[item.kind, item.described["method"]["name"], item.id] for item in telling],
        "combine": params.plain(step.work) if step.kind == "combine" else None,
    }
