"""The stages of making a dataset as a table, with counts and no texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.leaderboard.model import DroppedPart
from harness.leaderboard.text_tables import escaped
from harness.types import JSON


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
