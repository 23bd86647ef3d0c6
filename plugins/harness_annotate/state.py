"""The state of a judging folder, computed from its log. Each event is checked when it is applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from harness_annotate import decisions
from harness_annotate.decisions import Decision
from harness_annotate.events import (
    Answered,
    AnyEvent,
    Appointed,
    Given,
    Graded,
    Invited,
    Opened,
    Released,
    Returned,
    Reviewed,
    Revoked,
    Role,
    Skipped,
    Undone,
)
from harness_annotate.scheme import Choice, Rules, Scheme


class NotAllowed(Exception):
    """An event that the rules forbid. A log with such an event was not written by this program."""


class Vote(NamedTuple):
    person: str
    at: str  # UTC, as in 2026-03-01T09:12:44Z
    choice: Choice | None  # None if the pair was skipped
    comment: str
    blind: bool


class Verdict(NamedTuple):
    """A reviewer's verdict on a decision."""

    person: str
    at: str
    right: bool
    choice: Choice | None
    comment: str


class Grading(NamedTuple):
    """A machine's grade."""

    at: str
    choice: Choice
    score: float | None


@dataclass
class Pair:
    """The state of one pair of the pool."""

    votes: list[Vote] = field(default_factory=list)
    skips: list[Vote] = field(default_factory=list)
    before: list[Vote] = field(default_factory=list)  # votes before the package was returned
    holders: dict[str, str] = field(default_factory=dict)  # person -> when the pair was given to them
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by reviewer
    machines: dict[str, Grading] = field(default_factory=dict)  # # by machine


@dataclass
class Person:
    name: str
    role: Role
    local: bool
    keys: set[str] = field(default_factory=set)
    current: int | None = None
    history: list[int] = field(default_factory=list)  # answered or skipped pairs, the latest last
    peeked: set[int] = field(default_factory=set)  # pairs of which this person may have seen machine grades


class State:
    """The state after all events of the log so far."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.people: dict[str, Person] = {}
        self.machines: dict[str, str] = {}  # judge -> its configuration
        self.pairs: list[Pair] = []
        self.packages: list[list[int]] = []
        self.package_of: dict[int, int] = {}
        self.open: dict[int, None] = {}  # pairs that still need votes, in the pool's order
        self.gold: list[int] = []

    @property
    def head(self) -> Opened:
        if self.opened is None:
            raise NotAllowed("the log does not begin with what is judged")
        return self.opened

    @property
    def scheme(self) -> Scheme:
        return self.head.scheme

    @property
    def rules(self) -> Rules:
        return self.head.rules

    def decision(self, pair: int) -> Decision:
        choices = [vote.choice for vote in self.pairs[pair].votes if vote.choice is not None]
        return decisions.decide(self.scheme, self.rules, choices)

    def finished(self, package: int) -> bool:
        return not any(pair in self.open for pair in self.packages[package])

    def person(self, name: str, role: Role | None = None) -> Person:
        person = self.people.get(name)
        if person is None or (role is not None and person.role != role):
            raise NotAllowed(f"'{name}' is not invited as {role or 'anybody'}")
        return person

    def pair(self, number: int) -> Pair:
        if not 0 <= number < len(self.pairs):
            raise NotAllowed(f"there is no pair {number}")
        return self.pairs[number]

    def apply(self, event: AnyEvent, at: str) -> None:
        """Applies an event. Raises NotAllowed for one that the rules forbid, and then changes nothing."""
        match event:
            case Opened():
                self._open(event)
            case Invited():
                self._invite(event)
            case Revoked(name):
                self._revoke(name)
            case Given(name, number):
                person, pair = self.person(name, "annotator"), self.pair(number)
                if person.current is not None or number in person.history or name in pair.holders:
                    raise NotAllowed(f"'{name}' has a pair, or had pair {number} before")
                if number not in self.head.gold and not self.wants(number):
                    raise NotAllowed(f"pair {number} wants nobody")
                person.current = number
                pair.holders[name] = at
            case Released(name, number):
                person, pair = self._holder(name, number)
                del pair.holders[name]
                person.current = None
            case Answered(name, number, choice, comment, blind):
                person, pair = self._holder(name, number)
                pair.votes.append(Vote(name, at, choice, comment, blind))
                self._done(person, number)
            case Skipped(name, number, comment):
                person, pair = self._holder(name, number)
                pair.skips.append(Vote(name, at, None, comment, True))
                self._done(person, number)
            case Undone(name, number):
                self._undo(self.person(name, "annotator"), number, at)
            case Reviewed():
                self._review(event, at)
            case Returned(name, package):
                self._return(name, package)
            case Appointed(judge, config):
                if judge in self.machines:
                    raise NotAllowed(f"the judge '{judge}' is there already")
                self.machines[judge] = config
            case Graded(judge, number, choice, score):
                if judge not in self.machines or judge in self.pair(number).machines:
                    raise NotAllowed(f"'{judge}' is unknown, or graded pair {number} before")
                self.pair(number).machines[judge] = Grading(at, choice, score)

    def wants(self, number: int) -> bool:
        """Whether the pair needs a further person."""
        if number not in self.open:
            return False
        pair = self.pairs[number]
        if not pair.votes:  # by far the most frequent case
            return len(pair.holders) < self.rules.votes
        return len(pair.votes) + len(pair.holders) < self.decision(number).wanted

    def expired(self, number: int, now: str) -> list[str]:
        """The people who have held the pair for longer than the rules allow."""
        limit = self.rules.hold * 60
        return [name for name, since in self.pairs[number].holders.items() if _seconds(since, now) > limit]

    def _open(self, event: Opened) -> None:
        if self.opened is not None:
            raise NotAllowed("what is judged is said twice")
        self.opened = event
        self.pairs = [Pair() for _ in range(event.pairs)]
        known = {*event.judged, *event.gold}
        numbers = [number for number in range(event.pairs) if number not in known]
        size = event.rules.package
        self.packages = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        self.package_of = {pair: k for k, package in enumerate(self.packages) for pair in package}
        self.open = dict.fromkeys(numbers)
        self.gold = sorted(event.gold)

    def _invite(self, event: Invited) -> None:
        person = self.people.get(event.person)
        if person is not None and person.role != event.role:
            raise NotAllowed(f"'{event.person}' is {person.role} already")
        if person is None:
            person = self.people[event.person] = Person(event.person, event.role, event.local)
        person.local = person.local and event.local
        person.keys.add(event.key)

    def _revoke(self, name: str) -> None:
        if name not in self.people:
            raise NotAllowed(f"'{name}' was never invited")
        person = self.people[name]
        person.keys.clear()
        if person.current is not None:
            del self.pairs[person.current].holders[name]
            person.current = None

    def _holder(self, name: str, number: int) -> tuple[Person, Pair]:
        person, pair = self.person(name, "annotator"), self.pair(number)
        if person.current != number:
            raise NotAllowed(f"'{name}' was not given pair {number}")
        return person, pair

    def _done(self, person: Person, number: int) -> None:
        del self.pairs[number].holders[person.name]
        person.current = None
        person.history.append(number)
        person.peeked.add(number)
        self._reopen(number)

    def _undo(self, person: Person, number: int, at: str) -> None:
        if number not in person.history:
            raise NotAllowed(f"pair {number} is no answer of '{person.name}'")
        pair = self.pairs[number]
        pair.votes = [vote for vote in pair.votes if vote.person != person.name]
        pair.skips = [vote for vote in pair.skips if vote.person != person.name]
        person.history.remove(number)
        if person.current is not None:
            del self.pairs[person.current].holders[person.name]
        person.current = number
        pair.holders[person.name] = at
        self._reopen(number)

    def _reopen(self, number: int) -> None:
        """Updates whether the pair still needs votes."""
        if number in self.head.gold:
            return
        wanting = self.decision(number).status == "open"
        if not wanting:
            self.open.pop(number, None)
        elif number not in self.open:
            self.open = dict.fromkeys(sorted([*self.open, number]))

    def _review(self, event: Reviewed, at: str) -> None:
        self.person(event.person, "reviewer")
        pair = self.pair(event.pair)
        if event.pair not in self.package_of or event.pair in self.open:
            raise NotAllowed(f"pair {event.pair} has nothing to review")
        pair.verdicts[event.person] = Verdict(event.person, at, event.right, event.choice, event.comment)

    def _return(self, name: str, package: int) -> None:
        self.person(name, "reviewer")
        if not 0 <= package < len(self.packages) or not self.finished(package):
            raise NotAllowed(f"package {package} is not finished")
        inside = set(self.packages[package])
        for number in inside:
            pair = self.pairs[number]
            pair.before += pair.votes + pair.skips
            pair.votes, pair.skips, pair.verdicts = [], [], {}
        for person in self.people.values():
            person.history = [number for number in person.history if number not in inside]
        self.open = dict.fromkeys(sorted({*self.open, *inside}))


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
