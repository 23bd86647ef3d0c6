"""How many steps each training of a suite has, beside those of the publication that it follows."""

from __future__ import annotations

from collections.abc import Iterator

from harness import steps
from harness.plan.graph import Plan
from harness.store.artifacts import Store
from harness.suite.models import ModelSpec
from harness.types import TrainingSize


def lines(plan: Plan, store: Store) -> Iterator[str]:
    """A line for each model whose trainer can count its steps, if the size of its training data is known:
    from the suite, which may state that of a publication, or from examples in the store."""
    for spec in plan.suite.models:
        if spec.train.entry.record.steps is None:
            continue
        parts = []
        listed = _listed(plan, store, spec)
        if listed is not None:
            parts.append(f"{steps_of(spec, *listed):,} steps")
        if spec.paper is not None:
            count = steps_of(spec, spec.paper.queries, spec.paper.positives)
            size = f"{spec.paper.queries:,} queries and {spec.paper.positives:,} positives"
            stated = "" if spec.paper.steps is None else f", and {spec.paper.steps:,} by its authors' count"
            parts.append(f"{count:,} steps with the paper's {size}{stated}")
        if parts:
            yield f"  trains {spec.name}: {'; '.join(parts)}"


def steps_of(spec: ModelSpec, queries: int, positives: int) -> int:
    """The steps of a model's training on so many queries and positives; 0 if its trainer does not say."""
    record, negatives = spec.train.entry.record, spec.negatives
    if record.steps is None:
        return 0
    take, apart = (0, False) if negatives is None else (negatives.take, negatives.apart)
    count: int = record.steps(spec.train.params, TrainingSize(queries, positives, take, apart))
    return count


def _listed(plan: Plan, store: Store, spec: ModelSpec) -> tuple[int, int] | None:
    """The numbers of queries and positives of the examples of a model, if the store has them."""
    if spec.queries is not None:
        return None
    for step in plan.steps.values():
        record = step.record
        if isinstance(record, steps.Train) and record.recipe == spec.name:
            made = [source.examples.step for source in record.sources]
            if not all(store.has(name) for name in made):
                return None
            facts = [store.read(name).facts for name in made]
            return sum(int(item["queries_with_positives"]) for item in facts), sum(
                int(item["positives"]) for item in facts
            )
    return None
