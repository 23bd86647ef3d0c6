"""Plans the step that indexes texts."""

from __future__ import annotations

from harness.plan import plugin_calls
from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved, named
from harness.steps import results
from harness.steps.index import Index
from harness.steps.record import Ref
from harness.steps.texts import Texts
from harness.suite import Chosen


def step(
    graph: Graph,
    collection: Collection,
    method: Resolved,
    texts: Texts,
    source: Ref[results.Index] | None = None,
) -> Ref[results.Index]:
    """The index of a method whose key has no parameter that only searching reads."""
    record = Index(method=method.method, texts=texts, source=source)
    index_bytes = plugin_calls.index_bytes(method.chosen.entry.record, method.values)
    name = subject(graph, method.chosen, texts)
    return graph.add(record, collection.spec.name, name, method.needs, index_bytes)


def subject(graph: Graph, chosen: Chosen, texts: Texts) -> str:
    """The method with the suite's parameters, the unit and the context."""
    search_only = chosen.entry.record.search_only
    kept = {name: value for name, value in chosen.as_written.items() if name not in search_only}
    words = [
        named(chosen.name, kept),
        *(["documents"] if texts.unit == "document" else []),
        *(f"+{graph.steps[stage.step].subject}" for stage in texts.stages),
    ]
    return " ".join(words)
