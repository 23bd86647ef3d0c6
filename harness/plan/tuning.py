"""Plans the step that tunes a combiner's parameter, on another split or across folds of scored queries."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.plan.chosen_methods import work_of
from harness.plan.graph import Collection
from harness.plan.guard import Broken
from harness.plan.kinds import PARTS
from harness.problems import Keys, Place
from harness.suite import DatasetSpec, System, made_datasets
from harness.types import Unit

if TYPE_CHECKING:
    from harness.plan.systems import Output, Systems


def step(
    planner: Systems, collection: Collection, system: System, unit: Unit, inputs: Sequence[Output]
) -> str:
    """The id of the `tune` step for a system's combiner. Raises Broken. `inputs` are the outputs of the
    combined systems on the scored collection; they are used if the tuning is across folds."""
    chosen = system.combine
    assert chosen is not None
    assert chosen.tuned is not None
    tuning = chosen.tuned
    if tuning.on is not None:
        path = ("systems", system.base, "combine", "tune")
        collection = split_of(planner, tuning.on, tuning.place, path, "tune on another, or across 'folds: 5'")
        inputs = [planner.output(collection, name) for name in system.of]
    values, needs = planner.resolved(collection, chosen, unit)
    tried = {
        "parameter": tuning.parameter,
        "values": list(tuning.values),
        "measure": tuning.measure,
        "folds": tuning.folds,
        "depth": planner.suite.depth,
        "unit": unit,
    }
    place = f"{tuning.folds} folds" if tuning.on is None else "/".join(tuning.on)
    described = {
        "method": planner.method(collection, chosen, values, (tuning.parameter,)),
        **tried,
        "measured": planner.measured(tuning.measure),
        "rules": planner.rules(collection),
    }
    work = {"method": work_of(chosen, values), "on": place, "rules": planner.rules(collection), **tried}
    parts = [collection.parts[part] for part in PARTS]
    ids = [*(output.hits for output in inputs), *parts]
    planner.add_rescoring(chosen, system, inputs, described, work, ids, needs)
    subject = f"{system.name} on {place}"
    return planner.add("tune", collection.spec.name, subject, described, work, ids, needs)


def split_of(planner: Systems, on: tuple[str, str], place: Place, path: Keys, advice: str) -> Collection:
    """The collection of the split that a suite names for tuning or training. The suite must not score this
    split; `advice` says what to do if it does. Raises Broken."""
    name, split = on
    key = f"{name}/{split}"
    if key not in planner.tuned_on:
        spec = next(spec for spec in planner.suite.datasets if spec.name == name)
        collection = planner.collections.get(name)
        if collection is None or collection.card.split != split:
            collection = planner.collection(with_split(planner, spec, split, place, path, advice))
        planner.tuned_on[key] = collection
    collection = planner.tuned_on[key]
    if not collection.parts:
        needs = map(str, collection.needs)
        raise Broken(collection.error or next(needs, f"'{key}' failed while planning"))
    planner.apart.append((key, place, path, advice))
    _refuse_scored(planner, key, place, path, advice)
    return collection


def refuse_scored(planner: Systems) -> None:
    """Notes a problem for each split that is tuned or trained on and scored. Called once all datasets are
    planned."""
    for item in planner.apart:
        with contextlib.suppress(Broken):
            _refuse_scored(planner, *item)


def _refuse_scored(planner: Systems, key: str, place: Place, path: Keys, advice: str) -> None:
    collection = planner.tuned_on[key]
    for scored in planner.collections.values():
        same = scored.parts and scored.parts["judgements"] == collection.parts["judgements"]
        if same and scored.spec.scored:
            text = f"'{key}' is what the suite scores as '{scored.spec.name}'"
            planner.refuse(place, path, f"{text}; {advice}")


def with_split(
    planner: Systems, spec: DatasetSpec, split: str, place: Place | None, path: Keys, advice: str
) -> DatasetSpec:
    """The dataset with another split. Raises Broken if it has no such split."""
    other = made_datasets.with_split(spec, split, planner.suite.path.parent)
    if isinstance(other, str):
        planner.refuse(place, path, f"{other}; {advice}")
    return other
