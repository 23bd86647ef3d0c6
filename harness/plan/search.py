"""Plans the step that searches an index for all queries."""

from __future__ import annotations

from collections.abc import Sequence

from harness.plan.graph import Collection, Graph
from harness.problems import Need
from harness.steps.record import Ref
from harness.steps.results import Hits
from harness.steps.search import Search
from harness.steps.texts import IndexedRetriever


def step(
    graph: Graph,
    collection: Collection,
    subject: str,
    searcher: IndexedRetriever,
    depth: int,
    needs: Sequence[Need],
) -> Ref[Hits]:
    record = Search(
        method=searcher.method, texts=searcher.texts, index=searcher.index,
        queries=collection.planned.queries, rewritten=searcher.rewritten, depth=depth,
    )  # fmt: skip
    return graph.add(record, collection.spec.name, subject, needs)
