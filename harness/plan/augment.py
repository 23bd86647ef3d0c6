"""Plans the step of one stage of context."""

from __future__ import annotations

from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved, named
from harness.steps.augment import Augment
from harness.steps.record import Ref
from harness.steps.results import Additions


def step(graph: Graph, collection: Collection, stage: Resolved) -> Ref[Additions]:
    record = Augment(method=stage.method, corpus=collection.planned.corpus, language=collection.card.language)
    subject = named(stage.chosen.name, stage.chosen.as_written)
    return graph.add(record, collection.spec.name, subject, stage.needs)
