"""Plans the steps that make one ranking of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from harness.plan.graph import Collection, Graph, Output
from harness.plan.methods import Resolved
from harness.steps.combine import Combine, Learned, Pick, Tuned, Within
from harness.steps.record import Method, Ref
from harness.steps.results import Choice, Corpus, Hits, Queries
from harness.types import Unit


class Mixture(TypedDict):
    """The fields of `harness.steps.combine.Mixing`, which combining and tuning share."""

    method: Method
    hits: tuple[Ref[Hits], ...]
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    depth: int
    unit: Unit
    within: tuple[Within, ...]
    learned: Learned | None


def unit_of(inputs: Sequence[Output]) -> Unit:
    return "document" if all(output.unit == "document" for output in inputs) else "passage"


def mixture(
    collection: Collection, combiner: Resolved, inputs: Sequence[Output], depth: int, learned: Learned | None
) -> Mixture:
    """The systems' hits to combine. The inputs that the combiner's record names score further passages."""
    again = ((i, inputs[i].searcher) for i in combiner.chosen.entry.record.within)
    return Mixture(
        method=combiner.method,
        hits=tuple(output.hits for output in inputs),
        corpus=collection.planned.corpus,
        queries=collection.planned.queries,
        depth=depth,
        unit=unit_of(inputs),
        within=tuple(Within(i, searcher) for i, searcher in again if searcher is not None),
        learned=learned,
    )


def step(
    graph: Graph, collection: Collection, system: str, combiner: Resolved, mixed: Mixture,
    tuned: Tuned | None,
) -> Ref[Hits]:  # fmt: skip
    record = Combine(**mixed, tuned=tuned)
    return graph.add(record, collection.spec.name, system, combiner.needs)


def pick(
    graph: Graph, collection: Collection, system: str, trials: Sequence[Ref[Hits]], choice: Ref[Choice],
    unit: Unit,
) -> Ref[Hits]:  # fmt: skip
    """The step that takes each query's hits from the trial that is best on the other folds."""
    parts = collection.planned
    record = Pick(trials=tuple(trials), choice=choice, corpus=parts.corpus, queries=parts.queries, unit=unit)
    return graph.add(record, collection.spec.name, system)
