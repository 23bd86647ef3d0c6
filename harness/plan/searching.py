"""Plans the tuning of any parameters of a method: the system runs with each point, and the best is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.catalogue import params
from harness.plan import tuning
from harness.plan.chosen_methods import work_of
from harness.plan.graph import Collection
from harness.plan.kinds import PARTS
from harness.suite import Chosen, System
from harness.types import JSON

if TYPE_CHECKING:
    from harness.plan.systems import Output, Systems

FOUND = re.compile(r"tuned:(tune-[0-9a-f]{64})/(\w+)")  # a value that a step finds, and its parameter


def output(planner: Systems, collection: Collection, system: System) -> Output | None:
    """The output of a system that has a method with searched parameters, or None if it has no such method.
    Raises Broken. With `on`, the best point is found on another split, and the system then runs with that
    point. With `folds`, all points run on the scored queries, and each query takes the hits of the point that
    is best on the other folds."""
    chosen = next((item for item in system.methods if item.searched is not None), None)
    if chosen is None:
        return None
    search = chosen.searched
    assert search is not None
    other = collection
    if search.on is not None:
        path = ("systems", system.base, chosen.name, "tune")
        advice = "tune on another, or across 'folds: 5'"
        other = tuning.split_of(planner, search.on, search.place, path, advice)
    trials = []
    for point in search.points:
        pairs = dict(zip(search.parameters, point, strict=True))
        trials.append(planner.unshared(other, replaced(system, partial(tried, values=pairs))))
    unit, place = trials[0].unit, "/".join(search.on) if search.on else f"{search.folds} folds"
    rules_of_search: dict[str, JSON] = {
        "parameters": list(search.parameters), "points": [list(point) for point in search.points],
        "measure": search.measure, "folds": search.folds, "unit": unit,
    }  # fmt: skip
    rules = planner.rules(other)
    resolved, _ = planner.resolved(collection, chosen, unit)
    method = planner.method(collection, chosen, resolved, search.parameters)
    shown = work_of(chosen, resolved)
    described = {
        "method": method,
        **rules_of_search,
        "measured": planner.measured(search.measure),
        "rules": rules,
    }
    hits = [trial.hits for trial in trials]
    work = {"method": shown, **rules_of_search, "trials": hits, "rules": rules, "on": place}
    ids = [*dict.fromkeys(hits), *(other.parts[part] for part in PARTS)]
    step = planner.add(
        "tune", other.spec.name, f"{system.name} on {place}", {**described, "trials": hits}, work, ids, ()
    )
    if search.on is not None:
        steps_of_values = tuple((name, step) for name in search.parameters)
        return planner.unshared(
            collection,
            replaced(system, lambda item: item._replace(searched=None, tuning_steps=steps_of_values)),
        )
    described = {"method": method, "picked": hits}
    ids = [*dict.fromkeys(hits), collection.parts["corpus"], collection.parts["queries"], step]
    picked = planner.add(
        "combine",
        collection.spec.name,
        system.name,
        described,
        {"method": shown, "picked": hits, "unit": unit},
        ids,
        (),
    )
    return trials[0]._replace(hits=picked, searched=None)


def tried(chosen: Chosen, values: Mapping[str, JSON]) -> Chosen:
    """The method with `values` for its searched parameters."""
    plain = {**params.plain(chosen.params), **values}
    converted, problems = params.convert(type(chosen.params), plain, Path())
    assert not problems  # each point was checked with the suite
    return chosen._replace(as_written={**chosen.as_written, **values}, params=converted, searched=None)


def replaced(system: System, change: Callable[[Chosen], Chosen]) -> System:
    """The system with `change` applied to its methods that have searched parameters."""

    def other(chosen: Chosen) -> Chosen:
        return change(chosen) if chosen.searched is not None else chosen

    return system._replace(
        context=system.context and tuple(other(item) for item in system.context),
        queries=tuple(item._replace(chosen=other(item.chosen)) for item in system.queries),
        retriever=system.retriever and other(system.retriever),
        combine=system.combine and other(system.combine),
        rerank=tuple(item._replace(chosen=other(item.chosen)) for item in system.rerank),
    )


def described(chosen: Chosen, method: dict[str, JSON], leave_out: tuple[str, ...]) -> dict[str, JSON]:
    """The description of a method for a key. Values that steps find are named by these steps."""
    tuned = {name: f"tuned:{step}/{name}" for name, step in chosen.tuning_steps if name not in leave_out}
    return {**method, "params": {**method["params"], **tuned}} if tuned else method


def steps_in(described: JSON) -> list[str]:
    """The ids of the tuning steps that a step's description names as the source of parameter values, each
    once."""
    if isinstance(described, str):
        match = FOUND.fullmatch(described)
        return [match[1]] if match else []
    if isinstance(described, Mapping):
        return list(dict.fromkeys(step for item in described.values() for step in steps_in(item)))
    return []


def placed(described: JSON, work: JSON) -> JSON:
    """The work of a step, with `tuned:STEP/PARAMETER` in each place where its description has one."""
    if isinstance(described, str) and FOUND.fullmatch(described):
        return described
    if isinstance(described, Mapping) and isinstance(work, Mapping):
        return {name: placed(described.get(name), item) for name, item in work.items()}
    return work
