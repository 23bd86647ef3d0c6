"""Plans the stages of a made dataset: a step for each stage, and one for each part that the stage changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.plan.chosen_methods import named, work_of
from harness.plan.graph import Collection
from harness.plan.guard import Broken
from harness.plan.kinds import MAKE
from harness.plan.tuning import with_split
from harness.suite import Chosen, DatasetSpec, Stage
from harness.suite.made_datasets import named as names_in
from harness.suite.made_datasets import parted
from harness.types import JSON

if TYPE_CHECKING:
    from harness.plan.systems import Systems


def made(planner: Systems, spec: DatasetSpec, base: Collection) -> Collection:
    """The collection that the stages of `spec` make of `base`. It has no parts if a stage cannot be
    planned."""
    if not base.parts or not spec.make:
        return base
    path = ("datasets", spec.name)
    collection = base
    stages = [stage for stage in spec.make if not stage.splits or base.card.split in stage.splits]
    try:
        if spec.name in planner.begun:
            planner.refuse(spec.chosen.place, path, "is made of itself; break the circle")
        planner.begun.append(spec.name)
        try:
            for number, stage in enumerate(stages):
                here = spec._replace(name=f"{spec.name} after {number} stages", make=())
                collection = _stage(planner, collection._replace(spec=here), stage, spec.name)
        finally:
            planner.begun.remove(spec.name)
    except HarnessError as error:
        planner.problems += error.below(spec.chosen.place, path)
        return Collection(spec, base.card, {}, (), str(error))
    except Broken as error:
        return Collection(spec, base.card, {}, (), str(error))
    names = " -> ".join(stage.chosen.name for stage in stages)
    note = f"made of '{spec.of}': {names}" if spec.of and names else ""
    card = base.card._replace(official=(), notes=(*base.card.notes, *filter(None, (note,))))
    return collection._replace(spec=spec, card=card)


def _stage(planner: Systems, collection: Collection, stage: Stage, dataset: str) -> Collection:
    """The collection after one stage."""
    chosen, record = stage.chosen, stage.chosen.entry.record
    values, needs = planner.resolved(collection, chosen, "passage")
    runs = {name: _hits(planner, collection, stage, name) for name in names_in(chosen, "systems")}
    others = {name: other(planner, chosen, name) for name in names_in(chosen, "splits")}
    encoder = None if record.encoder is None else getattr(values, record.encoder)
    left_out = (record.encoder,) if encoder is not None else ()
    described: dict[str, JSON] = {
        "method": planner.method(collection, chosen, values, left_out),
        "language": [collection.card.language, collection.card.query_language],
        "split": collection.card.split,
    }
    if not record.changes:  # the files that the maker writes name their source
        described["source"] = [dataset, *collection.card[3:6]]
    work: dict[str, JSON] = {
        "method": work_of(chosen, values),
        "reads": {part: collection.parts[part] for part in record.reads},
        "runs": runs,
        "source": {
            "licence": collection.card.licence,
            "citation": collection.card.citation,
            "url": collection.card.url,
        },
        "others": {name: {"parts": dict(read.parts), **_description(read)} for name, read in others.items()},
        "of": dataset,
        **_description(collection),
    }
    if encoder is not None:
        described["encoder"], work["encoder"], more = planner.encoder(collection, chosen, encoder)
        needs = [*needs, *more]
    inputs = [*(collection.parts[part] for part in record.reads), *runs.values()]
    inputs += [step for read in others.values() for step in read.parts.values()]
    subject = named(chosen.name, chosen.as_written)
    step = planner.add(MAKE, dataset, subject, described, work, tuple(dict.fromkeys(inputs)), needs)
    parts = dict(collection.parts)
    for part in record.changes:
        parts[part] = planner.add(part, dataset, "", {"made": part}, {"made": step}, (step,), ())
    return collection._replace(parts=parts, stages=(*collection.stages, step))


def _description(collection: Collection) -> dict[str, JSON]:
    card = collection.card
    return {"language": card.language, "query_language": card.query_language, "split": card.split}


def _hits(planner: Systems, collection: Collection, stage: Stage, name: str) -> str:
    """The id of the step with the hits of a system on `collection`, the collection before the stage."""
    if all(system.name != name for system in planner.suite.systems):
        grid = sorted(system.name for system in planner.suite.systems if system.base == name)
        if not grid:  # noted when the suite was checked
            raise Broken(f"there is no system '{name}'")
        text = f"'{name}' is several systems; name one of them: {', '.join(grid)}"
        planner.refuse(stage.chosen.place, (stage.chosen.name,), text)
    output = planner.output(collection, name)
    if output.unit != "passage":
        text = f"'{name}' finds documents, and a pool is of passages; name another system"
        planner.refuse(stage.chosen.place, (stage.chosen.name,), text)
    return output.hits


def other(planner: Systems, chosen: Chosen, name: str) -> Collection:
    """The collection of the dataset, or of the split of a dataset, that a maker or an analysis reads."""
    specs = {spec.name: spec for spec in planner.suite.datasets}
    base, split = parted(name, set(specs))
    if base not in specs:  # noted when the suite was checked
        raise Broken(f"there is no dataset '{base}'")
    path = ("datasets", chosen.name)
    collection = planner.collections.get(base) or planner.tuned_on.get(base)
    if collection is None:
        collection = planner.tuned_on[base] = planner.collection(specs[base])
    if split is not None and collection.card.split != split:
        if name not in planner.tuned_on:
            spec = with_split(planner, specs[base], split, chosen.place, path, "name another")
            planner.tuned_on[name] = planner.collection(spec)
        collection = planner.tuned_on[name]
    if not collection.parts:
        raise Broken(collection.error or f"'{name}' lacks its data: {collection.needs[0]}")
    return collection
