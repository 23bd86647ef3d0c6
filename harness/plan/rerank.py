"""Plans the step that re-ranks the head of a run."""

from __future__ import annotations

from typing import Literal

from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved
from harness.steps import results
from harness.steps.record import Ref
from harness.steps.rerank import Rerank
from harness.steps.results import Hits
from harness.steps.texts import Texts


def step(
    graph: Graph, collection: Collection, subject: str, reranker: Resolved, below: Ref[Hits], texts: Texts,
    index: Ref[results.Index] | None, depth: int, tail: Literal["keep", "drop"],
) -> Ref[Hits]:  # fmt: skip
    record = Rerank(
        method=reranker.method, below=below, texts=texts, queries=collection.planned.queries, index=index,
        depth=depth, tail=tail,
    )  # fmt: skip
    return graph.add(record, collection.spec.name, subject, reranker.needs)
