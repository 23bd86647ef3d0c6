"""Plans the step that lists positives and negatives for a training."""

from __future__ import annotations

from harness.plan.graph import Collection, Graph
from harness.steps.examples import Examples, Mined
from harness.steps.record import Ref
from harness.steps.results import Hits, Lists
from harness.suite.models import Negatives


def step(
    graph: Graph, collection: Collection, level: int, negatives: Negatives | None, hits: Ref[Hits] | None
) -> Ref[Lists]:
    """The examples of one split. `hits` are what the negatives are mined from, if there are any."""
    parts, mined = collection.planned, None
    if negatives is not None and hits is not None:
        mined = Mined(
            hits=hits, depth=negatives.depth, below=negatives.below, above=negatives.above,
            positives_above=negatives.positives_above, undenoised=negatives.undenoised != 0,
            apart=negatives.apart, without_answer=negatives.without_answer,
            fill=negatives.take if negatives.fill else 0,
        )  # fmt: skip
    record = Examples(
        corpus=parts.corpus, queries=parts.queries, judgements=parts.judgements, level=level, negatives=mined
    )
    source = "" if negatives is None else negatives.of or (negatives.file and negatives.file.name)
    subject = f"negatives of {source}" if source else ""
    return graph.add(record, collection.spec.name, subject)
