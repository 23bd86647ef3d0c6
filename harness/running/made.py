"""What a leaderboard says of the datasets and models that its suite made: stages with counts, and flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from harness.collection.queries import read_queries
from harness.leaderboard.model import MadeStage
from harness.leaderboard.stage_tables import dropped
from harness.plan.graph import Collection, Plan, Step
from harness.running.provenance import params_of
from harness.scoring.overlap import NEAR, overlap
from harness.steps import Examples, Make
from harness.store.artifacts import Store
from harness.types import JSON


class MadeFacts(NamedTuple):
    """A stage of making a dataset, with the facts that its artifact keeps about it."""

    step: Step
    facts: JSON


def stage_facts(collection: Collection, steps: Mapping[str, Step], store: Store) -> Iterator[MadeFacts]:
    """The stages of a made dataset in order, each with its facts."""
    for stage in collection.stages:
        yield MadeFacts(steps[stage], store.read(stage, trust=True).facts["made"])


def stages(collection: Collection, planned: Plan, store: Store) -> tuple[MadeStage, ...]:
    return tuple(
        MadeStage(
            maker=known["maker"],
            params=stage_params(step),
            before=known["before"],
            after=known["after"],
            dropped=dropped(known),
            facts=known["facts"],
            judges=known.get("judges") or UNSET,
        )
        for step, known in stage_facts(collection, planned.steps, store)
    )


def stage_params(step: Step) -> dict[str, JSON]:
    """The parameters of a stage, with the methods that it encodes texts and scores pairs with."""
    record = step.record
    assert isinstance(record, Make)
    helpers = {"encoder": record.encoder, "scorer": record.scorer}
    named = {
        name: {helper.method.name: params_of(helper.method)}
        for name, helper in helpers.items() if helper is not None
    }  # fmt: skip
    return {**params_of(record.method), **named}


def dataset_flags(collection: Collection, steps: Mapping[str, Step], store: Store) -> list[str]:
    """What a reader of any row must know about the dataset and how it was made."""
    stages = stage_facts(collection, steps, store)
    return [*collection.card.flags, *(flag for _, known in stages for flag in known["flags"])]


def model_flags(steps: Sequence[Step], texts: Sequence[str], store: Store) -> list[str]:
    """A flag if queries of the scored split also occur in the data that a row's models were trained on."""
    trained: list[str] = []
    for step in steps:
        if isinstance(step.record, Examples):
            trained += read_queries(store.read(step.record.queries.step).folder).texts
    shared = overlap(texts, trained) if trained else None
    if shared is None or not (shared.same or shared.near):
        return []
    return [
        f"{shared.same} of {len(texts)} queries stand in what its models were trained on, and {shared.near} "
        f"more nearly so (character trigrams, Jaccard similarity of {NEAR} or more)"
    ]
