"""Plans the steps of a suite's analyses, after its systems ran, over the systems that have hits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.plan import keys
from harness.plan.graph import Analysis, Collection, Graph, Plan, Row, Step
from harness.records import Column
from harness.steps import analyse
from harness.steps.analyse import Analyse, Analysed, Reporting, Trained
from harness.steps.augment import Augment
from harness.steps.combine import Combine
from harness.steps.index import Index
from harness.steps.record import Method, Model, Ref, keyed, method_of
from harness.steps.rerank import Rerank
from harness.steps.results import Hits
from harness.steps.search import Search
from harness.steps.train import Train
from harness.steps.validate import Validate
from harness.types import JSON


def steps(plan: Plan, rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[Step]:
    """The steps of the analyses: one for each and each dataset. `rows` are those with hits in the store."""
    graph = Graph(plan.steps)
    for name, collection in plan.collections.items():
        rows_here = [row for row in rows if row.dataset == name and row.hits is not None]
        for analysis in plan.analyses if rows_here else ():
            record = _record(plan, collection, rows_here, columns, analysis)
            yield graph.steps[graph.add(record, name, analysis.name, analysis.needs).step]


def _record(
    plan: Plan, collection: Collection, rows: Sequence[Row], columns: Sequence[Column], analysis: Analysis
) -> Analyse:
    name, card, parts = collection.spec.name, collection.card, collection.planned
    others = {other: plan.collections[other].parts for other in analysis.datasets}
    return Analyse(
        method=analysis.method,
        systems=tuple(_system(plan, row) for row in rows),
        columns=tuple(analyse.Column(column.measure, column.unit) for column in columns),
        measures={
            measure: plugin
            for measure, plugin in analysis.measures.items()
            if any(re.match(rf"{measure}\b", column.measure) for column in columns)
        },
        dataset=name,
        notes=tuple(card.notes),
        language=card.language,
        rules=plan.rules[name],
        corpus=parts.corpus,
        queries=parts.queries,
        judgements=parts.judgements,
        judgements_of={other: read.judgements for other, read in others.items() if read is not None},
        queries_of=dict(analysis.queries_of),
        encoder=analysis.encoders.get(name),
    )


def _system(plan: Plan, row: Row) -> Analysed:
    assert row.hits is not None
    assert row.texts is not None
    record, ancestors = plan.steps[row.hits].record, plan.ancestors([row.hits])
    preparing = [
        (id, step.record) for id, step in plan.steps.items()
        if id in ancestors and isinstance(step.record, Augment | Index)
    ]  # fmt: skip
    searched = {  # not the indexes that other indexes are made from
        name for id in ancestors for name in plan.steps[id].inputs
        if not isinstance(plan.steps[id].record, Index)
    }  # fmt: skip
    indexes = [step for id, step in preparing if isinstance(step, Index) and id in searched]
    hits: Ref[Hits] = Ref(row.hits)
    return Analysed(
        name=row.system,
        hits=hits,
        texts=row.texts,
        unit=row.unit,
        context=tuple(plan.steps[stage.step].subject for stage in row.texts.stages),
        retriever=keys.key(keyed(indexes[0].method)) if len(indexes) == 1 else None,
        reporting=tuple(Reporting(step.kind, step.method.name, id) for id, step in preparing),
        combine=record if isinstance(record, Combine) else None,
        search=_params(record.method) if isinstance(record, Search) and record.rewritten is None else None,
        reranks=any(isinstance(plan.steps[id].record, Rerank) for id in ancestors),
        trained=_trained(plan, row.hits),
    )


def _trained(plan: Plan, hits: str) -> Trained | None:
    """How the model was trained that the last of a system's own methods reads, if the suite trained one."""
    model, level = None, [hits]
    while level and model is None:  # from the hits back, so that the order of the plan does not matter
        steps = [plan.steps[id] for id in level if not plan.steps[id].record.is_apart]
        methods = [method_of(step.record) for step in steps]
        values = [bound.value for method in methods if method is not None for bound in method.bound]
        model = next((value for value in values if isinstance(value, Model)), None)
        level = list(dict.fromkeys(id for step in steps for id in step.inputs))
    if model is None:
        return None
    record = plan.steps[model.step].record
    if isinstance(record, Validate):
        record = plan.steps[record.checkpoints[0].step].record
    assert isinstance(record, Train)
    method = record.method
    params = _params(method)
    settings = {
        "seed": record.seed, "draw": record.draw, "share": record.share, "queries": record.queries
    }  # fmt: skip
    return Trained(method.name, params, settings, record.take)


def _params(method: Method) -> dict[str, JSON]:
    return {**method.params, **{bound.parameter: keyed(bound.value) for bound in method.bound}}
