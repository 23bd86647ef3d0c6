"""Plans the steps that rewrite the queries of a system before its retriever searches for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.plan.chosen_methods import work_of
from harness.plan.graph import Collection
from harness.plan.kinds import of_kind
from harness.suite import System
from harness.types import JSON

if TYPE_CHECKING:
    from harness.plan.systems import Searched, Systems


def step(planner: Systems, collection: Collection, system: System, i: int, searched: Searched) -> str:
    """The id of the step for a system's i-th rewriter. Raises Broken. `searched` is the system's retriever
    with the queries as the rewriters before this one leave them."""
    item = system.queries[i]
    chosen, record = item.chosen, item.chosen.entry.record
    context = tuple(of_kind("augment", searched.inputs))
    values, needs = planner.resolved(collection, chosen, system.unit)
    with planner.guarded(chosen):
        depth = record.feedback(values)
    texts = planner.texts(collection, context, system.unit)
    described: dict[str, JSON] = {
        "method": planner.method(collection, chosen, values),
        "texts": {"unit": system.unit, "language": collection.card.language},
        "feedback": depth,
    }
    work = {
        "method": work_of(chosen, values), "texts": texts, "feedback": depth, "gives": record.gives,
        "queries": searched.queries,
    }  # fmt: skip
    ids = [collection.parts["queries"], collection.parts["corpus"], *context]
    if record.indexed:
        work["own_index"] = planner.index(collection, chosen, values, needs, context, system.unit)
        ids.append(work["own_index"])
    if record.gives != "text":  # the rewriter asks the retriever for its terms or vectors
        described["search"] = searched.described
        work["search"] = searched.work
        ids.append(searched.work["index"])
        needs += searched.needs
    if searched.queries is not None:
        ids.append(searched.queries)
    if depth:
        if item.of is None:
            hits = planner.searched(collection, f"{system.name} (first)", searched, system.unit, context)
        else:
            hits = planner.output(collection, item.of)
        if hits.unit != system.unit:
            what = f"'{item.of}' finds {hits.unit}s and '{system.name}' searches {system.unit}s"
            planner.refuse(chosen.place, ("systems", system.base, "queries", i), f"{what}; name another")
        ids.append(hits.hits)
    subject = f"{system.name} ({chosen.name})"
    return planner.add("rewrite", collection.spec.name, subject, described, work, ids, needs)
