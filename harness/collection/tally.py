"""What a stage of making a collection dropped and why: counted while it works, with a few examples."""

from __future__ import annotations

from typing import Literal, NamedTuple

from harness.types import JSON

EXAMPLES = 3  # of each reason
LONGEST = 200  # characters of an example


class Dropped(NamedTuple):
    what: str  # passages, documents, queries, judgements
    why: str
    times: int
    examples: tuple[str, ...]


class Tally:
    """Counts by reason. A maker calls `drop` for what it leaves out, `note` for other numbers and `flag` for
    what a reader must know."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._examples: dict[tuple[str, str], list[str]] = {}
        self._facts: dict[str, JSON] = {}
        self._flags: list[str] = []
        self._judges: dict[str, int] = {}

    def drop(self, what: str, why: str, example: str = "", count: int = 1) -> None:
        """`what` is passages, documents, queries or judgements; `why` a few words. Examples may hold text:
        they stand on the identity card, never in a leaderboard."""
        key = (what, why)
        self._counts[key] = self._counts.get(key, 0) + count
        shown = self._examples.setdefault(key, [])
        if example and count and len(shown) < EXAMPLES:
            shown.append(example if len(example) <= LONGEST else f"{example[:LONGEST]}...")

    def note(self, name: str, value: JSON) -> None:
        """A number or a short text about the stage, shown with it; the last one of a name counts."""
        self._facts[name] = value

    def add(self, name: str, count: int = 1) -> None:
        """Count something that is not dropped."""
        self._facts[name] = self._facts.get(name, 0) + count

    def judged(self, by: Literal["person", "machine"], count: int) -> None:
        """So many judgements that stand were decided by people, or by a machine. Judgements by a machine are
        flagged in every row, and `harness compare` holds them against those of people."""
        if count:
            self._judges[by] = self._judges.get(by, 0) + count

    def flag(self, text: str) -> None:
        """Show this with every row that is scored on the collection."""
        if text not in self._flags:
            self._flags.append(text)

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        return tuple(
            Dropped(*key, count, tuple(self._examples[key])) for key, count in self._counts.items() if count
        )

    def facts(self) -> dict[str, JSON]:
        """All of it as plain data."""
        return {
            "dropped": [
                {"what": item.what, "why": item.why, "count": item.times, "examples": list(item.examples)}
                for item in self.dropped
            ],
            "facts": dict(self._facts),
            "flags": list(self._flags),
            "judges": dict(self._judges),
        }
