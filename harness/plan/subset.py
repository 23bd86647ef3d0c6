"""Plans the step that leaves a corpus fewer candidates."""

from __future__ import annotations

from harness.plan.graph import Collection, Graph
from harness.steps.record import Ref
from harness.steps.results import Hits
from harness.steps.subset import Subset
from harness.suite.models import Subset as PartOfCorpus


def shortened(graph: Graph, collection: Collection, subset: PartOfCorpus, hits: Ref[Hits]) -> Collection:
    """The collection with fewer candidates: the top of a run and the judged passages. All other passages
    still serve as context."""
    parts = collection.planned
    record = Subset(
        corpus=parts.corpus, queries=parts.queries, judgements=parts.judgements, hits=hits,
        depth=subset.depth,
    )  # fmt: skip
    name = f"{collection.spec.name}, top {subset.depth} of {subset.of}"
    corpus = graph.add(record, name)
    spec = collection.spec._replace(name=name)
    return collection._replace(spec=spec, parts=parts._replace(corpus=corpus))
