"""What a leaderboard records about a dataset that its suite made: the stages, with counts and no texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from harness.leaderboard.model import DroppedPart, MadeStage
from harness.leaderboard.text_tables import escaped
from harness.plan.graph import Collection, Plan, Step
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


def dropped(known: JSON) -> tuple[DroppedPart, ...]:
    """What a stage dropped, from its facts, without the examples."""
    return tuple(DroppedPart(item["what"], item["why"], item["count"]) for item in known["dropped"])


class Counted(NamedTuple):
    """The name of a stage and the counts that the table shows of it."""

    name: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    dropped: Iterable[DroppedPart]


def table(stages: Iterable[Counted]) -> Iterator[str]:
    """The lines of a Markdown table of stages."""
    yield "| stage | took in | left | dropped |"
    yield "| --- | --- | --- | --- |"
    for stage in stages:
        taken, left = (
            ", ".join(f"{count:,} {what}" for what, count in counts.items())
            for counts in (stage.before, stage.after)
        )
        lost = "; ".join(f"{item.count:,} {item.what}: {item.why}" for item in stage.dropped)
        yield f"| {escaped(stage.name)} | {taken} | {left} | {escaped(lost) or 'nothing'} |"


def stages(collection: Collection, planned: Plan, store: Store) -> tuple[MadeStage, ...]:
    return tuple(
        MadeStage(
            maker=known["maker"],
            params=step.described["method"]["params"],
            before=known["before"],
            after=known["after"],
            dropped=dropped(known),
            facts=known["facts"],
            judges=known.get("judges") or UNSET,
        )
        for step, known in facts(collection, planned.steps, store)
    )


def flags(collection: Collection, planned: Plan, store: Store) -> list[str]:
    """What a reader of any row must know about how the dataset was made."""
    return [flag for _, known in facts(collection, planned.steps, store) for flag in known["flags"]]
