"""The progress of a judging folder, and the agreement of its annotators and machines."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from harness_annotate import agreement, results, review
from harness_annotate.review import Package
from harness_annotate.scheme import Choice
from harness_annotate.state import State, Vote


class Annotator(NamedTuple):
    """The work of one annotator. `gold` is the share of right answers to the `gold_asked` gold questions, and
    `majority` is the share of answers that became the decision."""

    name: str
    answered: int
    skipped: int
    gold: float | None
    gold_asked: int
    majority: float | None


class PairOfPeople(NamedTuple):
    first: str
    second: str
    pairs: int
    same: float
    kappa: float | None
    weighted: float | None  # quadratic weights


class Machine(NamedTuple):
    """A machine compared with people's decisions, over the pairs that both judged. Only pairs count whose
    votes were given before the voters could see the machine's grade. `confusion[person's grade][machine's
    grade]` counts pairs."""

    judge: str
    graded: int
    pairs: int
    same: float | None
    kappa: float | None
    weighted: float | None
    confusion: dict[int, dict[int, int]]


class Summary(NamedTuple):
    pairs: int
    judged: int  # pairs that have a grade in the dataset already
    decided: int
    dropped: int
    stuck: int  # pairs that every annotator has judged or skipped
    annotators: list[Annotator]
    packages: list[Package]
    people: list[PairOfPeople]
    several: int  # pairs with more than one vote
    fleiss: float | None  # over pairs with `votes` votes
    alphas: dict[agreement.Level, float | None]
    machines: list[Machine]


def summary(state: State) -> Summary:
    normal = [number for package in state.packages for number in package]
    statuses = [state.decision(number).status for number in normal]
    names = sorted(name for name, person in state.people.items() if person.role == "annotator")
    stuck = sum(
        all(name in _people_of(state, number) for name in names) for number in state.open
    ) if names else 0  # fmt: skip
    ratings = [
        [_code(state, vote.choice) for vote in state.pairs[number].votes if vote.choice] for number in normal
    ]
    several = [grades for grades in ratings if len(grades) > 1]
    counts, values = agreement.counts_of(several)
    first = [grades[: state.rules.votes] for grades in ratings if len(grades) >= state.rules.votes]
    levels: tuple[agreement.Level, ...] = ("nominal",)
    if state.scheme.grades:  # labels have no order
        levels = ("nominal", "ordinal", "interval")
    return Summary(
        pairs=len(state.pairs),
        judged=len(state.head.judged),
        decided=statuses.count("decided"),
        dropped=statuses.count("dropped"),
        stuck=stuck,
        annotators=[_annotator(state, name) for name in names],
        packages=review.packages(state),
        people=_people(state, normal, names),
        several=len(several),
        fleiss=agreement.fleiss(agreement.counts_of(first)[0]),
        alphas={level: agreement.krippendorff(counts, values, level) for level in levels},
        machines=[_machine(state, judge) for judge in sorted(state.machines)],
    )


def _people_of(state: State, number: int) -> set[str]:
    pair = state.pairs[number]
    return {vote.person for vote in pair.votes + pair.skips}


def _votes_of(state: State, name: str, numbers: list[int]) -> dict[int, Vote]:
    return {number: vote for number in numbers for vote in state.pairs[number].votes if vote.person == name}


def _annotator(state: State, name: str) -> Annotator:
    history = state.people[name].history
    votes = _votes_of(state, name, sorted(set(history)))
    gold = [votes[number].choice == state.head.gold[number] for number in state.gold if number in votes]
    decided = [
        vote.choice == state.decision(number).choice
        for number, vote in votes.items()
        if number not in state.head.gold and state.decision(number).choice is not None
    ]
    return Annotator(name, len(votes), len(history) - len(votes), _share(gold), len(gold), _share(decided))


def _share(values: list[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _people(state: State, normal: list[int], names: list[str]) -> list[PairOfPeople]:
    votes = {name: _votes_of(state, name, normal) for name in names}
    made = []
    for first, second in combinations(names, 2):
        shared = sorted(votes[first].keys() & votes[second].keys())
        if shared:
            one, other = (
                np.array([_code(state, votes[name][number].choice) for number in shared], np.float64)
                for name in (first, second)
            )
            same = float((one == other).mean())
            kappas = agreement.cohen(one, other), agreement.cohen(one, other, "quadratic")
            made.append(PairOfPeople(first, second, len(shared), same, *kappas))
    return made


def _code(state: State, choice: Choice | None) -> int:
    """A number for a person's choice: the grade, or, in a scheme without grades, a number that differs for
    each set of labels."""
    assert choice is not None  # the vote is not a skip
    if state.scheme.grades:
        return choice.grade
    return sum(1 << place for place, item in enumerate(state.scheme.labels) if item.label in choice.labels)


def _machine(state: State, judge: str) -> Machine:
    people, machine, graded = [], [], 0
    for number, pair in enumerate(state.pairs):
        if judge not in pair.machines:
            continue
        graded += 1
        decided = results.final(state, number)
        if decided is not None and decided.choice is not None and all(vote.blind for vote in pair.votes):
            people.append(decided.choice.grade)  # a machine may give no labels
            machine.append(pair.machines[judge].choice.grade)
    grades = sorted({*people, *machine})
    confusion = {
        one: {
            other: sum(pair == (one, other) for pair in zip(people, machine, strict=True)) for other in grades
        }
        for one in grades
    }
    one, other = np.array(people, float), np.array(machine, float)
    same = float((one == other).mean()) if people else None
    kappa, weighted = agreement.cohen(one, other), agreement.cohen(one, other, "quadratic")
    return Machine(judge, graded, len(people), same, kappa, weighted, confusion)


def plain(value: Any) -> Any:
    """The summary as data for JSON, with names."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def text(counted: Summary) -> str:
    """The summary as the command prints it."""
    total = sum(package.pairs for package in counted.packages)
    lines = [
        f"{counted.decided + counted.dropped} of {total} pairs are done: "
        f"{counted.decided} decided, {counted.dropped} dropped; {counted.judged} were judged before"
    ]
    if counted.stuck:
        lines.append(f"{counted.stuck} pairs wait for a further annotator: all who are invited were asked")
    for item in counted.annotators:
        gold = f", gold {item.gold:.0%} of {item.gold_asked}" if item.gold is not None else ""
        same = f", {item.majority:.0%} as decided" if item.majority is not None else ""
        lines.append(f"  {item.name}: {item.answered} judged, {item.skipped} skipped{same}{gold}")
    for package in counted.packages:
        checked = ", ".join(f"{name} {count}/{package.sample}" for name, count in package.reviewed.items())
        shown = f", accuracy {package.accuracy:.1%}" if package.accuracy is not None else ""
        shown += f" (reviewed: {checked})" if checked else ""
        lines.append(
            f"  package {package.number + 1}: {package.done}/{package.pairs}, {package.standing}{shown}"
        )
    if counted.several:
        lines.append(f"agreement over {counted.several} pairs with several votes:")
        lines.append(f"  Fleiss' kappa {_number(counted.fleiss)}")
        alphas = ", ".join(f"{level} {_number(value)}" for level, value in counted.alphas.items())
        lines.append(f"  Krippendorff's alpha: {alphas}")
    for pair in counted.people:
        names = f"{pair.first} and {pair.second}"
        lines.append(f"  {names}: same {pair.same:.0%} of {pair.pairs}, {_kappas(pair.kappa, pair.weighted)}")
    for judge in counted.machines:
        lines.append(f"machine {judge.judge}: {judge.graded} graded")
        if judge.same is not None:
            kappas = _kappas(judge.kappa, judge.weighted)
            lines.append(f"  as people decided: {judge.same:.0%} of {judge.pairs}, {kappas}")
            lines += [
                f"  people {grade}: " + ", ".join(f"machine {other}: {count}" for other, count in row.items())
                for grade, row in judge.confusion.items()
            ]
    return "\n".join(lines) + "\n"


def _kappas(plain: float | None, weighted: float | None) -> str:
    return f"kappa {_number(plain)}, weighted {_number(weighted)}"


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"
