"""Describes a plan's needs in lines for people: each need once, with the systems or datasets that have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.plan.graph import Plan, Step
from harness.problems import Need
from harness.steps.kinds import COLLECTION_PARTS
from harness.steps.record import method_of

SHOWN = 3  # systems or datasets that a line names


class _Users(NamedTuple):
    """The methods, systems and datasets that have a need, each in the plan's order."""

    methods: tuple[str, ...]
    systems: tuple[str, ...]
    datasets: tuple[str, ...]


def described(plan: Plan, needs: Iterable[Need]) -> list[str]:
    """The lines that describe `needs`, which are needs of the plan's steps, datasets and analyses. If one
    command installs several modules, they are on one line, even if different methods need them."""
    groups: dict[str | Need, list[Need]] = {}
    for need in dict.fromkeys(needs):
        groups.setdefault(need.command or need, []).append(need)
    users = _users(plan, [need for group in groups.values() for need in group])
    lines = []
    for group in groups.values():
        joined = _Users(
            *(tuple(dict.fromkeys(name for need in group for name in users[need][i])) for i in range(3))
        )
        named = {need.method for need in group}
        what = str(group[0]) if len(group) == 1 else _together(group)
        words = [*(name for name in joined.methods if name not in named), _whose(joined)]
        inside = ", ".join(word for word in words if word)
        lines.append(f"{what} ({inside})" if inside else what)
    return lines


def _together(needs: Sequence[Need]) -> str:
    """Several needs for modules as one line, with the one command that installs them."""
    methods = list(dict.fromkeys(f"'{need.method}'" for need in needs))
    modules = list(dict.fromkeys(name for need in needs for name in need.modules))
    verb = "needs" if len(methods) == 1 else "need"
    return f"{_listed(methods)} {verb} {', '.join(modules)}; install with: {needs[0].command}"


def _whose(users: _Users) -> str:
    """The systems or datasets in words, such as `of minilm on scifact`."""
    if not users.systems:
        return _some(users.datasets) and f"the dataset {_some(users.datasets)}"
    return f"of {_some(users.systems)}" + (f" on {_some(users.datasets)}" if users.datasets else "")


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return _listed([*names[:SHOWN], f"{more} more"] if more > 0 else names)


def _listed(names: Sequence[str]) -> str:
    """The names as `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _users(plan: Plan, needs: Sequence[Need]) -> dict[Need, _Users]:
    """The users of each need: a dataset, or the systems with the need, not only through their `of`."""
    steps_by_need: dict[Need, list[Step]] = {need: [] for need in needs}
    for step in plan.steps.values():
        inherited = {need for other in step.inputs for need in plan.steps[other].needs}
        for need in step.needs:
            if need in steps_by_need and need not in inherited:
                steps_by_need[need].append(step)
    ancestors_by_row = {
        (row.dataset, row.system): plan.ancestors([row.hits])
        for row in plan.rows
        if row.selected and row.hits is not None and needs
    }
    return {need: _users_of(plan, need, steps, ancestors_by_row) for need, steps in steps_by_need.items()}


def _users_of(
    plan: Plan, need: Need, steps: Sequence[Step], ancestors_by_row: dict[tuple[str, str], set[str]]
) -> _Users:
    datasets = [name for name, collection in plan.collections.items() if need in collection.needs]
    datasets += [step.dataset for step in steps if isinstance(step.record, COLLECTION_PARTS)]
    if datasets:
        return _Users((), (), tuple(dict.fromkeys(datasets)))
    methods = [method.name for step in steps if (method := method_of(step.record)) is not None]
    methods += [analysis.name for analysis in plan.analyses if need in analysis.needs]
    ids = {step.id for step in steps}
    rows = {row for row, ancestors in ancestors_by_row.items() if not ids.isdisjoint(ancestors)}
    first = [
        (dataset, system)
        for dataset, system in rows
        if not any((dataset, below) in rows for below in plan.suite.system(system).below)
    ]
    systems = [system.name for system in plan.suite.systems if any(system.name == name for _, name in first)]
    names = [name for name in plan.collections if any(name == dataset for dataset, _ in first)]
    return _Users(tuple(dict.fromkeys(methods)), tuple(systems), tuple(names))
