"""The steps of a suite's analyses, planned after its systems ran, over the systems that have hits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.catalogue import params
from harness.plan import keys
from harness.plan.graph import Analysis, Collection, Plan, Row, Step
from harness.plan.kinds import FORMATS, PARTS, PREPARING
from harness.records import Column
from harness.types import JSON


def steps(plan: Plan, rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[Step]:
    """The steps of the analyses: one for each analysis and dataset. `rows` are the rows with hits in the
    store."""
    for name, collection in plan.collections.items():
        rows_here = [row for row in rows if row.dataset == name and row.hits is not None]
        for analysis in plan.analyses if rows_here else ():
            yield _step(plan, collection, rows_here, columns, analysis)


def _step(
    plan: Plan, collection: Collection, rows: Sequence[Row], columns: Sequence[Column], analysis: Analysis
) -> Step:
    name = collection.spec.name
    systems = [_system(plan, row) for row in rows]
    parts = [collection.parts[part] for part in PARTS]
    stages = [step for system in systems for step in system["texts"]["stages"]]
    others = {
        other: plan.collections[other].parts["judgements"]
        for other in analysis.datasets
        if plan.collections[other].parts
    }
    queries_of = dict(analysis.queries_of)
    hits = [row.hits for row in rows if row.hits]
    inputs = tuple(dict.fromkeys([*parts, *others.values(), *queries_of.values(), *hits, *stages]))
    shown = [[column.measure, column.unit] for column in columns]
    dataset = {
        "dataset": name,
        "language": collection.card.language,
        "notes": list(collection.card.notes),
        "rules": plan.rules[name],
    }
    described = {
        "kind": "analyse",
        "format": FORMATS["analyse"],
        "method": analysis.described,
        "systems": [[row.system, row.hits] for row in rows],
        "columns": shown,
        "measures": {
            name: measure
            for name, measure in analysis.measures.items()
            if any(re.match(rf"{name}\b", column.measure) for column in columns)
        },
        **dataset,
        **({"judgements_of": others} if others else {}),
        **({"queries_of": queries_of} if queries_of else {}),
        "inputs": list(inputs),
    }
    work = {
        "method": analysis.work,
        **dataset,
        "systems": systems,
        "judgements_of": others,
        "queries_of": queries_of,
        "encoder": analysis.encoder,
        "columns": shown,
        "inputs": list(inputs),
    }
    return Step("analyse", keys.key(described), name, analysis.name, described, work, inputs, analysis.needs)


def _system(plan: Plan, row: Row) -> JSON:
    assert row.hits is not None
    step, ancestors = plan.steps[row.hits], plan.ancestors([row.hits])
    telling = [item for item in plan.steps.values() if item.id in ancestors and item.kind in PREPARING]
    indexes = [item for item in telling if item.kind == "index"]
    return {
        "name": row.system,
        "unit": row.unit,
        "hits": row.hits,
        "texts": row.texts,
        "context": [plan.steps[stage].subject for stage in row.texts["stages"]],
        "retriever": keys.key(indexes[0].described["method"]) if len(indexes) == 1 else None,
        "telling": [[item.kind, item.described["method"]["name"], item.id] for item in telling],
        "combine": params.plain(step.work) if step.kind == "combine" and "picked" not in step.work else None,
    }
