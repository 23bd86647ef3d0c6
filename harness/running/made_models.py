"""What a row records about models that the suite made: their cost and their training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.collection.queries import read_queries
from harness.plan.graph import Step
from harness.scoring.overlap import NEAR, overlap
from harness.steps import Examples, Train
from harness.store.artifacts import Store
from harness.types import JSON


def joules(costs: Iterable[JSON]) -> float | None:
    """The sum of the energy of some steps, or None if the energy of any of them is unknown."""
    energy = [spent.get("energy_joules") for spent in costs]
    return round(sum(energy), 1) if energy and None not in energy else None


def pace(steps: Sequence[Step], store: Store) -> dict[str, JSON]:
    """The speed of the last training of a row's models, and the largest memory of any of them. Empty if none
    was trained."""
    costs = [store.read(step.id, trust=True).cost for step in steps if isinstance(step.record, Train)]
    if not costs:
        return {}
    numbers: dict[str, JSON] = {"training_peak_mb": max(cost["peak_mb"] for cost in costs)}
    if "tokens_per_second" in costs[-1]:
        numbers["training_tokens_per_second"] = round(costs[-1]["tokens_per_second"], 1)
    return numbers


def flags(steps: Sequence[Step], texts: Sequence[str], store: Store) -> list[str]:
    """A flag if queries of the scored split also occur in the data that a row's models were trained on."""
    trained: list[str] = []
    for step in steps:
        if isinstance(step.record, Examples):
            trained += read_queries(store.read(step.record.queries.step).folder).texts
    shared = overlap(texts, trained) if trained else None
    if shared is None or not (shared.same or shared.near):
        return []
    return [
        f"{shared.same} of {len(texts)} queries stand in what its models were trained on, and {shared.near} "
        f"more nearly so (character trigrams, Jaccard similarity of {NEAR} or more)"
    ]
