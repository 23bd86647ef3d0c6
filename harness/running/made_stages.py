"""What a leaderboard records about a dataset that its suite made: the stages, with counts and no texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from harness.leaderboard.model import MadeStage
from harness.leaderboard.stage_tables import dropped
from harness.plan.graph import Collection, Plan, Step
from harness.running.provenance import params_of
from harness.steps import Make
from harness.store.artifacts import Store
from harness.types import JSON


class MadeFacts(NamedTuple):
    """A stage of making a dataset, with the facts that its artifact keeps about it."""

    step: Step
    facts: JSON


def facts(collection: Collection, steps: Mapping[str, Step], store: Store) -> Iterator[MadeFacts]:
    """The stages of a made dataset in order, each with its facts."""
    for stage in collection.stages:
        yield MadeFacts(steps[stage], store.read(stage, trust=True).facts["made"])


def stages(collection: Collection, planned: Plan, store: Store) -> tuple[MadeStage, ...]:
    return tuple(
        MadeStage(
            maker=known["maker"],
            params=params(step),
            before=known["before"],
            after=known["after"],
            dropped=dropped(known),
            facts=known["facts"],
            judges=known.get("judges") or UNSET,
        )
        for step, known in facts(collection, planned.steps, store)
    )


def params(step: Step) -> dict[str, JSON]:
    """The parameters of a stage, with the retriever that it encodes texts with."""
    assert isinstance(step.record, Make)
    encoder = step.record.encoder
    given = params_of(step.record.method)
    return (
        given if encoder is None else {**given, "encoder": {encoder.method.name: params_of(encoder.method)}}
    )


def flags(collection: Collection, planned: Plan, store: Store) -> list[str]:
    """What a reader of any row must know about how the dataset was made."""
    return [flag for _, known in facts(collection, planned.steps, store) for flag in known["flags"]]
