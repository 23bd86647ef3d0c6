"""Plans the step that compares the checkpoints of a training, over the whole corpus or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.plan.graph import Collection, Graph
from harness.steps.record import Ref
from harness.steps.results import Best, Hits, Weights
from harness.steps.rules import Measured
from harness.steps.validate import Shortened, Validate
from harness.suite.models import ModelSpec, Validation
from harness.types import Unit


def step(
    graph: Graph, collection: Collection, searched: Collection, spec: ModelSpec, how: Validation, seed: int,
    subject: str, checkpoints: Sequence[Ref[Weights]], hits: Sequence[Ref[Hits]],
    whole: Sequence[Ref[Hits]], measured: Measured, unit: Unit,
) -> Ref[Best]:  # fmt: skip
    """The step that names the best checkpoint. `hits` are those with each checkpoint on the collection
    `searched`, which may be a part of `collection`; `whole` are those on all of it, if they are asked for."""
    parts, part = searched.planned, how.corpus
    record = Validate(
        checkpoints=tuple(checkpoints), hits=tuple(hits), whole=tuple(whole), corpus=parts.corpus,
        queries=parts.queries, judgements=parts.judgements, measured=measured, unit=unit,
        on="/".join(how.on), shortened=None if part is None else Shortened(part.of, part.depth),
        recipe=spec.name, seed=seed,
    )  # fmt: skip
    return graph.add(record, collection.spec.name, subject)
