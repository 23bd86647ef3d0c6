"""Assigns pairs to annotators. Each answer, skip and undo is one transaction of the log."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias

from harness.plugin import HarnessError
from harness_annotate import scheme as schemes
from harness_annotate.events import Answered, AnyEvent, Given, Released, Skipped, Undone
from harness_annotate.journal import Journal, now
from harness_annotate.state import Person, State, Vote

Append: TypeAlias = Callable[[AnyEvent], None]
LONGEST = 4000  # the most characters of a comment


class Lost(HarnessError):
    """The pair is no longer this person's: it waited too long, or was answered in another page."""


def next_pair(journal: Journal, name: str) -> int | None:
    """The pair that the person holds, or a new one that is given to them; None if none is left for them."""
    with journal.reading() as state:
        current = state.person(name, "annotator").current
    if current is not None:
        return current
    with journal.writing() as (state, append):
        person = state.person(name, "annotator")
        if person.current is None:
            _give(state, append, person)
        return person.current


def answer(
    journal: Journal, name: str, number: int, grade: int | None, labels: Sequence[str], comment: str
) -> None:
    """Stores the person's choice. The answer is on disk when this function returns."""
    with journal.writing() as (state, append):
        person = _holding(state, name, number)
        chosen = schemes.choice(state.scheme, grade, labels)
        blind = not (number in person.peeked and state.pairs[number].machines)
        append(Answered(name, number, chosen, comment[:LONGEST], blind))


def skip(journal: Journal, name: str, number: int, comment: str) -> None:
    with journal.writing() as (state, append):
        _holding(state, name, number)
        append(Skipped(name, number, comment[:LONGEST]))


def undo(journal: Journal, name: str, number: int | None = None) -> Vote | None:
    """Takes back the person's answer or skip of a pair, or the last one, gives them that pair again, and
    returns what was taken back. None if there is nothing to undo."""
    with journal.writing() as (state, append):
        person = state.person(name, "annotator")
        if not person.history:
            return None
        taken = person.history[-1] if number is None else number
        if taken not in person.history:
            raise Lost("this pair is not among your answers; it may be judged again")
        pair = state.pairs[taken]
        if pair.verdicts:
            raise Lost("a reviewer has looked at this pair; its answers can no longer be changed")
        vote = next(vote for vote in pair.votes + pair.skips if vote.person == name)
        append(Undone(name, taken))
        return vote


def _holding(state: State, name: str, number: int) -> Person:
    person = state.person(name, "annotator")
    if person.current != number:
        raise Lost("this pair is no longer yours: it was open for too long, or you answered it elsewhere")
    return person


def _give(state: State, append: Append, person: Person) -> None:
    number = _gold(state, person)
    if number is None:
        number = _first_wanting(state, append, person)
    if number is not None:
        append(Given(person.name, number))


def _gold(state: State, person: Person) -> int | None:
    """A gold question if one is due, or None. Each person gets them in an order of their own."""
    seen = set(person.history)
    left = [number for number in state.gold if number not in seen]
    due = (len(person.history) + 1) % state.rules.gold_every == 0
    if not left or not (due or not state.open):
        return None
    return random.Random(f"{state.rules.seed} gold {person.name} {len(left)}").choice(left)


def _first_wanting(state: State, append: Append, person: Person) -> int | None:
    """The first pair, in the pool's order, that needs this person, or that another person has held too long.
    A pair that was held too long is released first."""
    seen, time = set(person.history), now()
    for number in state.open:
        if number in seen:
            continue
        if state.wants(number):
            return number
        expired = [name for name in state.expired(number, time) if name != person.name]
        if expired:
            append(Released(expired[0], number))
            return number
    return None
