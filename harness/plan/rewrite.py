"""Plans the step that rewrites the queries of a system before its retriever searches for them."""

from __future__ import annotations

from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved
from harness.steps import results
from harness.steps.record import Ref
from harness.steps.results import Hits, Rewritten
from harness.steps.rewrite import Rewrite
from harness.steps.texts import IndexedRetriever


def step(
    graph: Graph, collection: Collection, system: str, rewriter: Resolved, searcher: IndexedRetriever,
    index: Ref[results.Index] | None, feedback: int, hits: Ref[Hits] | None,
) -> Ref[Rewritten]:  # fmt: skip
    """The step of one rewriter. `searcher` is the system's retriever with the queries as the rewriters before
    this one leave them; `index` is the rewriter's own."""
    gives = rewriter.chosen.entry.record.gives
    record = Rewrite(
        method=rewriter.method, texts=searcher.texts, queries=collection.planned.queries,
        before=searcher.rewritten, index=index, searcher=None if gives == "text" else searcher,
        feedback=feedback, hits=hits, gives=gives,
    )  # fmt: skip
    subject = f"{system} ({rewriter.chosen.name})"
    return graph.add(record, collection.spec.name, subject, rewriter.needs)
