"""What a row records about models that the suite made: their cost and their training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.collection.queries import read_queries
from harness.plan.graph import Plan, Row
from harness.scoring.overlap import NEAR, overlap
from harness.steps import Examples, Train, Validate
from harness.store.artifacts import Store
from harness.types import JSON

MAKING = (Train, Validate)


def making_costs(row: Row, plan: Plan, store: Store) -> list[JSON]:
    """The costs of the steps that made a row's models, with their negatives and validation; empty if the row
    has no made model."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    making = [
        step.id for step in plan.steps.values() if step.id in ancestors and isinstance(step.record, MAKING)
    ]
    if not making:
        return []
    ranking_steps = plan.ancestors([row.hits], stop_at=lambda step: isinstance(step.record, MAKING))
    spent = {*plan.ancestors(making), *making} - (ranking_steps - set(making))
    return [store.read(step, trust=True).cost for step in sorted(spent)]


def joules(costs: Iterable[JSON]) -> float | None:
    """The sum of the energy of some steps, or None if the energy of any of them is unknown."""
    energy = [spent.get("energy_joules") for spent in costs]
    return round(sum(energy), 1) if energy and None not in energy else None


def pace(row: Row, plan: Plan, store: Store) -> dict[str, JSON]:
    """The speed of the last training of a row's models, and the largest memory of any of them. Empty if none
    was trained."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    trained = [
        step.id for step in plan.steps.values() if step.id in ancestors and isinstance(step.record, Train)
    ]
    if not trained:
        return {}
    costs = [store.read(step, trust=True).cost for step in trained]
    numbers: dict[str, JSON] = {"training_peak_mb": max(cost["peak_mb"] for cost in costs)}
    if "tokens_per_second" in costs[-1]:
        numbers["training_tokens_per_second"] = round(costs[-1]["tokens_per_second"], 1)
    return numbers


def flags(row: Row, plan: Plan, texts: Sequence[str], store: Store) -> list[str]:
    """A flag if queries of the scored split also occur in the data that a row's models were trained on."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    trained: list[str] = []
    for step in plan.steps.values():
        if isinstance(step.record, Examples) and step.id in ancestors:
            trained += read_queries(store.read(step.record.queries.step).folder).texts
    if not trained:
        return []
    shared = overlap(texts, trained)
    if not (shared.same or shared.near):
        return []
    return [
        f"{shared.same} of {len(texts)} queries stand in what its models were trained on, and {shared.near} "
        f"more nearly so (character trigrams, Jaccard similarity of {NEAR} or more)"
    ]
