"""Plans the step that labels the hits of a system that contain an answer."""

from __future__ import annotations

from harness.plan.graph import Collection, Graph
from harness.steps.label import Label
from harness.steps.record import Ref
from harness.steps.results import Hits, Labels


def step(graph: Graph, collection: Collection, system: str, hits: Ref[Hits], depth: int) -> Ref[Labels]:
    parts = collection.planned
    record = Label(hits=hits, corpus=parts.corpus, queries=parts.queries, depth=depth)
    return graph.add(record, collection.spec.name, system)
