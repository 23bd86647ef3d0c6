"""What a plan needs and is not here, for people: each thing once, and for which systems and datasets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.plan.graph import Plan, Step
from harness.plan.steps import PARTS

MODULES = re.compile(r"'(?P<method>[^']+)'.* needs (?P<modules>.+); install it with: (?P<command>.+)")
SHOWN = 3  # systems or datasets that a line names


class _Users(NamedTuple):
    """Who a need is of, each in the plan's order."""

    methods: tuple[str, ...]
    systems: tuple[str, ...]
    datasets: tuple[str, ...]


def described(plan: Plan, needs: Iterable[str]) -> list[str]:
    """These needs of the plan's steps, datasets and analyses, a line each. Modules that one command installs
    stand in one line, whichever methods lack them."""
    groups: dict[str, list[str]] = {}
    for need in dict.fromkeys(needs):
        found = MODULES.fullmatch(need)
        groups.setdefault(found["command"] if found else need, []).append(need)
    users = _users(plan, [need for group in groups.values() for need in group])
    lines = []
    for group in groups.values():
        of = _Users(
            *(tuple(dict.fromkeys(name for need in group for name in users[need][i])) for i in range(3))
        )
        what = group[0] if len(group) == 1 else _together(group)
        words = [*(name for name in of.methods if f"'{name}'" not in what), _whose(of)]
        inside = ", ".join(word for word in words if word)
        lines.append(f"{what} ({inside})" if inside else what)
    return lines


def _together(needs: Sequence[str]) -> str:
    """Several lines of missing modules as one, with the one command that brings them."""
    found = [match for need in needs if (match := MODULES.fullmatch(need))]
    methods = list(dict.fromkeys(f"'{match['method']}'" for match in found))
    modules = list(dict.fromkeys(name for match in found for name in match["modules"].split(", ")))
    verb = "needs" if len(methods) == 1 else "need"
    return f"{_listed(methods)} {verb} {', '.join(modules)}; install with: {found[0]['command']}"


def _whose(users: _Users) -> str:
    """`of minilm on scifact`."""
    if not users.systems:
        return _some(users.datasets) and f"the dataset {_some(users.datasets)}"
    return f"of {_some(users.systems)}" + (f" on {_some(users.datasets)}" if users.datasets else "")


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return _listed([*names[:SHOWN], f"{more} more"] if more > 0 else names)


def _listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _users(plan: Plan, needs: Sequence[str]) -> dict[str, _Users]:
    """Who each need is of: a dataset's own, or the rows that were not made of another with the same need."""
    lacking: dict[str, list[Step]] = {need: [] for need in needs}
    for step in plan.steps.values():
        below = {need for other in step.inputs for need in plan.steps[other].needs}
        for need in step.needs:  # those of its inputs too
            if need in lacking and need not in below:
                lacking[need].append(step)
    ancestors_by_row = {
        (row.dataset, row.system): plan.ancestors([row.hits])
        for row in plan.rows
        if row.selected and row.hits is not None and needs
    }
    return {need: _users_of(plan, need, steps, ancestors_by_row) for need, steps in lacking.items()}


def _users_of(
    plan: Plan, need: str, steps: Sequence[Step], ancestors_by_row: dict[tuple[str, str], set[str]]
) -> _Users:
    absent = [name for name, collection in plan.collections.items() if need in collection.needs]
    ours = [step.label.partition(" · ")[2] for step in steps if step.kind in PARTS]
    if absent or ours:
        return _Users((), (), tuple(dict.fromkeys([*absent, *ours])))
    methods = [step.work["method"]["name"] for step in steps]
    methods += [analysis["work"]["name"] for analysis in plan.analyses if need in analysis["needs"]]
    own = {step.id for step in steps}
    having = {row for row, ancestors in ancestors_by_row.items() if not own.isdisjoint(ancestors)}
    first = [
        (dataset, system)
        for dataset, system in having
        if not any((dataset, below) in having for below in plan.suite.system(system).of)
    ]
    systems = [system.name for system in plan.suite.systems if any(system.name == name for _, name in first)]
    datasets = [name for name in plan.collections if any(name == dataset for dataset, _ in first)]
    return _Users(tuple(dict.fromkeys(methods)), tuple(systems), tuple(datasets))
