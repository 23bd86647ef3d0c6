"""Plans a stage of a made dataset: its own step, and one for each part that the stage changes."""

from __future__ import annotations

from collections.abc import Mapping

from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved, named
from harness.steps.make import MadePart, Make, Origin, Parts
from harness.steps.record import Ref
from harness.steps.results import Hits
from harness.steps.texts import Encoder
from harness.types import PARTS, Part


def stage(
    graph: Graph, before: Collection, dataset: str, maker: Resolved, runs: Mapping[str, Ref[Hits]],
    others: Mapping[str, Collection], encoder: Encoder | None, scorer: Encoder | None,
) -> Collection:  # fmt: skip
    """The collection after one stage of `dataset`."""
    chosen, record, card = maker.chosen, maker.chosen.entry.record, before.card
    origin = Origin(dataset, card.licence, card.citation, card.url)
    step = graph.add(
        Make(
            method=maker.method,
            reads=_parts(before, record.reads),
            runs=dict(runs),
            others={name: _parts(read, PARTS) for name, read in others.items()},
            encoder=encoder,
            scorer=scorer,
            written=None if record.changes else origin,
            origin=origin,
        ),
        dataset, named(chosen.name, chosen.as_written), maker.needs,
    )  # fmt: skip
    changed = {part: graph.add(MadePart(stage=step, part=part), dataset, part) for part in record.changes}
    parts = before.planned._replace(**changed)
    return before._replace(parts=parts, stages=(*before.stages, step.step))


def _parts(collection: Collection, reads: tuple[Part, ...]) -> Parts:
    card, known = collection.card, collection.planned
    return Parts(
        **{part: getattr(known, part) for part in reads},
        language=card.language,
        query_language=card.query_language,
        split=card.split,
    )
