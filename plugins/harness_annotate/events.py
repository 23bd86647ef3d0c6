"""The events in the log of a judging folder: one kind for each action of people and machines."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from harness_annotate.scheme import Choice, Rules, Scheme

Role: TypeAlias = Literal["annotator", "reviewer"]


class Event(Struct, frozen=True, tag_field="event", forbid_unknown_fields=True):
    """An event. A pair is identified by its number: its place in the pool, from 0."""


class Opened(Event, frozen=True, tag="opened"):
    """The first event: what is judged, and by which rules."""

    form: str
    pool: str  # the digest of the pool
    pairs: int
    judged: tuple[int, ...]  # pairs that need no judgement, because the dataset has their grade
    gold: dict[int, Choice]
    scheme: Scheme
    rules: Rules


class Invited(Event, frozen=True, tag="invited"):
    """A person may judge. `key` is the SHA-256 of the session that their token gives. A further event for the
    same person adds a token."""

    person: str
    role: Role
    key: str
    local: bool = False  # whether the server invited the one person at this machine


class Revoked(Event, frozen=True, tag="revoked"):
    """All links of a person end. Their votes count on, and the pair that they hold goes to others."""

    person: str


class Given(Event, frozen=True, tag="given"):
    person: str
    pair: int


class Released(Event, frozen=True, tag="released"):
    """The pair waited too long for this person and may be given to another."""

    person: str
    pair: int


class Answered(Event, frozen=True, tag="answered"):
    """A person's answer. `blind` is False if a machine's grade may have been seen, after an undo."""

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
    """The person's answer or skip is taken back, and the person holds the pair again."""

    person: str
    pair: int


class Reviewed(Event, frozen=True, tag="reviewed"):
    """A reviewer's verdict on a decision. If the decision is wrong, `choice` may give the right one."""

    person: str
    pair: int
    right: bool
    choice: Choice | None = None
    comment: str = ""


class Returned(Event, frozen=True, tag="returned"):
    """A package is to be judged again. Its votes no longer count, but stay in the log."""

    person: str
    package: int


class Appointed(Event, frozen=True, tag="appointed"):
    """A machine's name, and its configuration as JSON: everything that can change its grades."""

    judge: str
    config: str


class Graded(Event, frozen=True, tag="graded"):
    """A machine's grade of a pair. It never counts as a vote."""

    judge: str
    pair: int
    choice: Choice
    score: float | None = None


People: TypeAlias = Invited | Revoked | Given | Released | Answered | Skipped | Undone | Reviewed | Returned
AnyEvent: TypeAlias = Opened | People | Appointed | Graded
DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> str:
    return msgspec.json.encode(event).decode()
