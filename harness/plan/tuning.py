"""A combiner's parameter that is tuned: the step that tries every value, elsewhere or across folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.catalogue import params
from harness.plan.graph import Collection
from harness.plan.guard import Broken
from harness.plan.kinds import PARTS
from harness.plan.steps import work_of
from harness.problems import Keys, Place
from harness.suite import DatasetSpec, System
from harness.types import Unit

if TYPE_CHECKING:
    from harness.plan.systems import Output, Systems


def step(
    planner: Systems, collection: Collection, system: System, unit: Unit, inputs: Sequence[Output]
) -> str:
    """The id of the `tune` step for a system's combiner; raises Broken. `inputs` are the systems' outputs
    on the collection that is scored: those that folds are made of."""
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
    """The split that a suite names for tuning or training, which must not be one that it scores. `advice`
    says what to do if it is."""
    name, split = on
    key = f"{name}/{split}"
    if key not in planner.tuned_on:
        spec = next(spec for spec in planner.suite.datasets if spec.name == name)
        collection = planner.collections.get(name)
        if collection is None or collection.card.split != split:
            collection = planner.collection(_of_split(planner, spec, split, place, path, advice))
        planner.tuned_on[key] = collection
    collection = planner.tuned_on[key]
    if not collection.parts:
        needs = map(str, collection.needs)
        raise Broken(collection.error or next(needs, f"'{key}' failed while planning"))
    for scored in planner.collections.values():
        same = scored.parts and scored.parts["judgements"] == collection.parts["judgements"]
        if same and scored.spec.scored:
            text = f"'{key}' is what the suite scores as '{scored.spec.name}'"
            planner.refuse(place, path, f"{text}; {advice}")
    return collection


def _of_split(
    planner: Systems, spec: DatasetSpec, split: str, place: Place, path: Keys, advice: str
) -> DatasetSpec:
    """The same dataset with another split."""
    chosen = spec.chosen
    record = chosen.entry.record
    if "split" not in params.fields_of(record.params):
        what = f"the dataset '{spec.name}' has no parameter 'split'"
        planner.refuse(place, path, f"{what}; {advice}")
    given = {**chosen.given, "split": split}
    values, problems = params.convert(
        record.params, {**params.plain(chosen.params), "split": split}, planner.suite.path.parent
    )
    if problems:
        planner.refuse(place, path, f"{spec.name}/{split}: {problems[0].text}")
    return spec._replace(name=f"{spec.name}/{split}", chosen=chosen._replace(given=given, params=values))
