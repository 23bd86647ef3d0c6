"""The work of reviewers: random pairs of a finished package, its accuracy, and the consequences."""

from __future__ import annotations

import random
from typing import Literal, NamedTuple

from harness.plugin import HarnessError
from harness_annotate import scheme as schemes
from harness_annotate.assignment import LONGEST
from harness_annotate.events import Returned, Reviewed
from harness_annotate.journal import Journal
from harness_annotate.scheme import Choice
from harness_annotate.state import State

Standing = Literal["judging", "review", "accepted", "revise"]


class Package(NamedTuple):
    """A package of pairs. `accuracy` is the mean over the reviewers who have checked their whole sample."""

    number: int
    pairs: int
    done: int
    dropped: int
    sample: int
    reviewed: dict[str, int]  # reviewer -> number of checked pairs of the sample
    accuracy: float | None
    by_reviewer: dict[str, float]
    standing: Standing


def sample(state: State, name: str, package: int) -> list[int]:
    """The random pairs of a reviewer among the decided pairs of a package. Each call gives the same."""
    decided = [pair for pair in state.packages[package] if state.decision(pair).choice is not None]
    size = min(state.rules.review, len(decided))
    return random.Random(f"{state.rules.seed} review {name} {package}").sample(decided, size)


def packages(state: State) -> list[Package]:
    return [_package(state, number) for number in range(len(state.packages))]


def _package(state: State, number: int) -> Package:
    pairs = state.packages[number]
    done = [pair for pair in pairs if pair not in state.open]
    dropped = sum(state.decision(pair).status == "dropped" for pair in done)
    finished = len(done) == len(pairs)
    reviewed, accuracy, size = {}, {}, 0
    if finished:
        for name in sorted(person.name for person in state.people.values() if person.role == "reviewer"):
            drawn = sample(state, name, number)
            size = len(drawn)
            verdicts = [
                state.pairs[pair].verdicts[name] for pair in drawn if name in state.pairs[pair].verdicts
            ]
            reviewed[name] = len(verdicts)
            if drawn and len(verdicts) == len(drawn):
                accuracy[name] = sum(verdict.right for verdict in verdicts) / len(drawn)
    mean = sum(accuracy.values()) / len(accuracy) if accuracy else None
    standing: Standing = "review" if finished else "judging"
    if mean is not None and len(accuracy) >= state.rules.reviewers:
        standing = "accepted" if mean >= state.rules.accuracy else "revise"
    return Package(number, len(pairs), len(done), dropped, size, reviewed, mean, accuracy, standing)


def next_pair(state: State, name: str) -> int | None:
    """The first pair of the reviewer's samples that has no verdict of theirs, or None."""
    for number in range(len(state.packages)):
        if state.finished(number):
            for pair in sample(state, name, number):
                if name not in state.pairs[pair].verdicts:
                    return pair
    return None


def verdict(
    journal: Journal, name: str, number: int, right: bool, choice: Choice | None, comment: str
) -> None:
    """Stores a reviewer's verdict: the decision is right, or wrong, and perhaps which is right."""
    with journal.writing() as (state, append):
        package = state.package_of.get(number)
        if package is None or not state.finished(package) or number not in sample(state, name, package):
            raise HarnessError("this pair is not in your sample; go on with the next")
        if choice is not None:
            if right:
                raise HarnessError("grade: a decision that is right keeps its grade; leave 'grade' out")
            choice = schemes.choice(state.scheme, choice.grade, choice.labels)
        append(Reviewed(name, number, right, choice, comment[:LONGEST]))


def give_back(journal: Journal, name: str, package: int) -> None:
    """Returns a package that missed its accuracy, so that it is judged again."""
    with journal.writing() as (state, append):
        state.person(name, "reviewer")
        if not 0 <= package < len(state.packages):
            raise HarnessError(f"there is no package {package + 1}; the last one is {len(state.packages)}")
        if _package(state, package).standing != "revise":
            raise HarnessError(
                f"package {package + 1} has not missed its accuracy; only such a one is returned"
            )
        append(Returned(name, package))
