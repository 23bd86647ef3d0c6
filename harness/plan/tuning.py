"""A combiner's parameter that is tuned: the step that tries every value, elsewhere or across folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from harness import params
from harness.plan.graph import Collection
from harness.plan.steps import Broken, work_of
from harness.suite import DatasetSpec, System, Tuning
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
        collection = _elsewhere(planner, tuning, system)
        inputs = [planner.output(collection, name) for name in system.of]
    values, needs = planner.resolved(collection, chosen, unit)
    said = {
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
        **said,
        "measured": planner.measured(tuning.measure),
        "rules": planner.rules(collection),
    }
    work = {"method": work_of(chosen, values), "on": place, "rules": planner.rules(collection), **said}
    parts = [collection.parts[part] for part in ("corpus", "queries", "judgements")]
    ids = [*(output.hits for output in inputs), *parts]
    planner.add_rescoring(chosen, system, inputs, described, work, ids, needs)
    label = f"tune · {collection.spec.name} · {system.name} on {place}"
    return planner.add("tune", label, described, work, ids, needs)


def _elsewhere(planner: Systems, tuning: Tuning, system: System) -> Collection:
    """The split that a suite names for tuning, which may not be one that it scores."""
    assert tuning.on is not None
    name, split = tuning.on
    where = f"{tuning.place}: systems.{system.base}.combine: tune"
    key = "/".join(tuning.on)
    if key not in planner.tuned_on:
        spec = next(spec for spec in planner.suite.datasets if spec.name == name)
        found = planner.collections.get(name)
        if found is None or found.card.split != split:
            found = planner.collection(_of_split(planner, spec, split, where))
        planner.tuned_on[key] = found
    found = planner.tuned_on[key]
    scored = planner.collections.values()
    judged = {item.parts["judgements"]: item.spec.name for item in scored if item.parts and item.spec.scored}
    if not found.parts:
        raise Broken(found.error or (found.needs[0] if found.needs else f"'{key}' failed while planning"))
    if found.parts["judgements"] in judged:
        text = f"{where}: '{key}' is what the suite scores as '{judged[found.parts['judgements']]}'"
        _refused(planner, f"{text}; tune on another split, or across 'folds: 5'")
    return found


def _of_split(planner: Systems, spec: DatasetSpec, split: str, where: str) -> DatasetSpec:
    """The same dataset with another split."""
    chosen = spec.chosen
    record = chosen.entry.record
    if "split" not in params.fields_of(record.params):
        _refused(planner, f"{where}: the dataset '{spec.name}' has no parameter 'split'")
    given = {**chosen.given, "split": split}
    values, problems = params.convert(
        record.params, {**params.plain(chosen.params), "split": split}, planner.suite.path.parent
    )
    if problems:
        _refused(planner, f"{where}: {spec.name}/{split}: {problems[0].text}")
    return spec._replace(name=f"{spec.name}/{split}", chosen=chosen._replace(given=given, params=values))


def _refused(planner: Systems, text: str) -> NoReturn:
    planner.problems.append(text)
    raise Broken(text)
