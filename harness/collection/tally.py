"""Counts what a stage of making a collection drops, by reason, with a few examples."""

from __future__ import annotations

from typing import Literal, NamedTuple

from harness.types import JSON

EXAMPLES = 3  # examples per reason
LONGEST = 200  # characters of an example


class Dropped(NamedTuple):
    what: str  # passages, documents, queries or judgements
    why: str
    times: int
    examples: tuple[str, ...]


class Tally:
    """The counts and notes of one stage. A maker calls `drop` for items that it leaves out, `note` for other
    numbers and `flag` for facts that every reader of a row must know."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._examples: dict[tuple[str, str], list[str]] = {}
        self._facts: dict[str, JSON] = {}
        self._flags: list[str] = []
        self._judges: dict[str, int] = {}

    def drop(self, what: str, why: str, example: str = "", count: int = 1) -> None:
        """Count `count` dropped items. `what` is passages, documents, queries or judgements; `why` is the
        reason. Examples may hold text: they stand on the identity card, never in a leaderboard."""
        key = (what, why)
        self._counts[key] = self._counts.get(key, 0) + count
        shown = self._examples.setdefault(key, [])
        if example and count and len(shown) < EXAMPLES:
            shown.append(example if len(example) <= LONGEST else f"{example[:LONGEST]}...")

    def note(self, name: str, value: JSON) -> None:
        """Keep a number or a short text about the stage, to show with the stage. A later value of the same
        name replaces it."""
        self._facts[name] = value

    def add(self, name: str, count: int = 1) -> None:
        """Add `count` to the number `name`, which counts items that are not dropped."""
        self._facts[name] = self._facts.get(name, 0) + count

    def judged(self, by: Literal["person", "machine"], count: int) -> None:
        """Count judgements of the made collection that people or a machine decided. Judgements by a machine
        are flagged in every row, and `harness compare` compares them with those of people."""
        if count:
            self._judges[by] = self._judges.get(by, 0) + count

    def flag(self, text: str) -> None:
        """Add a text that is shown with every row that is scored on the collection."""
        if text not in self._flags:
            self._flags.append(text)

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        return tuple(
            Dropped(*key, count, tuple(self._examples[key])) for key, count in self._counts.items() if count
        )

    def facts(self) -> dict[str, JSON]:
        """All counts, notes and flags as plain data."""
        return {
            "dropped": [
                {"what": item.what, "why": item.why, "count": item.times, "examples": list(item.examples)}
                for item in self.dropped
            ],
            "facts": dict(self._facts),
            "flags": list(self._flags),
            "judges": dict(self._judges),
        }
