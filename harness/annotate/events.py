"""What the log of a judging folder holds: one kind of event for each thing that people and machines do."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness.annotate.scheme import Choice, Rules, Scheme

Role: TypeAlias = Literal["annotator", "reviewer"]


class Event(Struct, frozen=True, tag_field="event", forbid_unknown_fields=True):
    """Pairs are numbers: the place in the pool, from 0."""


class Opened(Event, frozen=True, tag="opened"):
    """The first event: what is judged, and by which rules."""

    form: str
    pool: str  # its digest
    pairs: int
    judged: tuple[int, ...]  # pairs that need no judgement: the collection has their grade
    gold: dict[int, Choice]
    scheme: Scheme
    rules: Rules


class Invited(Event, frozen=True, tag="invited"):
    """Somebody may judge: the SHA-256 of what their token gives. A further one adds a token."""

    person: str
    role: Role
    key: str
    local: bool = False  # made by the server itself, for the one person at this machine


class Given(Event, frozen=True, tag="given"):
    person: str
    pair: int


class Released(Event, frozen=True, tag="released"):
    """The pair waited too long for this person; another may have it."""

    person: str
    pair: int


class Answered(Event, frozen=True, tag="answered"):
    """`blind` is false if the person had seen a machine's grade of the pair before, by an undo."""

    person: str
    pair: int
    choice: Choice
    comment: str = ""
    blind: bool = True


class Skipped(Event, frozen=True, tag="skipped"):
    person: str
    pair: int
    comment: str = ""


class Undone(Event, frozen=True, tag="undone"):
    """The person's last answer or skip is taken back, and the pair is theirs again."""

    person: str
    pair: int


class Reviewed(Event, frozen=True, tag="reviewed"):
    """A reviewer's verdict on a decision; `choice` is what is right where the decision is wrong."""

    person: str
    pair: int
    right: bool
    choice: Choice | None = None
    comment: str = ""


class Returned(Event, frozen=True, tag="returned"):
    """A package is to be judged again: its votes no longer count, and stay in the log."""

    person: str
    package: int


class Appointed(Event, frozen=True, tag="appointed"):
    """A machine's name, and all that can change its grades, as JSON."""

    judge: str
    config: str


class Graded(Event, frozen=True, tag="graded"):
    """A machine's grade. It never counts as a vote."""

    judge: str
    pair: int
    choice: Choice
    score: float | None = None


People: TypeAlias = Invited | Given | Released | Answered | Skipped | Undone | Reviewed | Returned
AnyEvent: TypeAlias = Opened | People | Appointed | Graded
DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> str:
    return msgspec.json.encode(event).decode()
