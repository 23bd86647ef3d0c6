"""Plans the datasets of a suite: read from their plugins, made in stages, or with another split."""

from __future__ import annotations

import contextlib

from harness.contracts import Source
from harness.errors import HarnessError
from harness.plan import make, methods, plugin_calls, read, systems
from harness.plan.context import Context, SplitOfItsOwn, helper, rehearse, resolved
from harness.plan.graph import Collection
from harness.plan.plugin_calls import Broken
from harness.problems import Keys, Place
from harness.steps.record import Ref
from harness.steps.results import Hits
from harness.suite import Chosen, DatasetSpec, Stage, made_datasets
from harness.types import PARTS, Card, Facts, Inputs, Part


def collection(context: Context, spec: DatasetSpec) -> Collection:
    """The collection of a dataset. For a made dataset, its stages are applied."""
    return _made(context, spec, _read(context, spec))


def _read(context: Context, spec: DatasetSpec) -> Collection:
    record, values = spec.chosen.entry.record, spec.chosen.params
    unknown = Card(None, "?")
    try:
        rehearse(context, spec.chosen, values)
        with context.guarded(spec.chosen):
            if absent := methods.needs_of(spec.chosen, values):
                return Collection(spec, unknown, None, tuple(absent), None)
            source = record.build(values)
            card = plugin_calls.card(source)
            inputs = _inputs(context, spec, source)
            facts = Facts(card.language, card.query_language, "passage")
            all_params = tuple(record.params.__dataclass_fields__)
            method = methods.method(spec.chosen, values, context.digest, facts, all_params)
        parts = read.steps(context.graph, spec, method, inputs, context.digest)
    except HarnessError as error:
        context.problems.extend(error.below(spec.chosen.place, ("datasets", spec.name)))
        return Collection(spec, unknown, None, (), str(error))
    except Broken as error:
        return Collection(spec, unknown, None, (), f"dataset {error}")
    needs = [need for made_of in inputs.values() for need in read.missing_files(made_of)]
    return Collection(spec, card, parts, tuple(dict.fromkeys(needs)), None)


def _inputs(context: Context, spec: DatasetSpec, source: Source) -> dict[Part, Inputs]:
    """What each part is made of. A part whose files have faults is noted as a problem and planned still,
    because `harness check --data` reads all parts for their other faults."""
    inputs: dict[Part, Inputs] = {}
    for part in PARTS:
        try:
            inputs[part] = plugin_calls.inputs(source, part)
        except HarnessError as error:
            context.problems.extend(error.below(spec.chosen.place, ("datasets", spec.name)))
            inputs[part] = Inputs({"refused": str(error)}, ())
    return inputs


def _made(context: Context, spec: DatasetSpec, base: Collection) -> Collection:
    """The collection that the stages of `spec` make of `base`. It has no parts if a stage fails."""
    if base.parts is None or not spec.make:
        return base
    path, begun = ("datasets", spec.name), context.memo.begun
    made = base
    stages = [stage for stage in spec.make if not stage.splits or base.card.split in stage.splits]
    try:
        if spec.name in begun:
            context.refuse(spec.chosen.place, path, "is made of itself; break the circle")
        begun.append(spec.name)
        try:
            for number, stage in enumerate(stages):
                here = spec._replace(name=f"{spec.name} after {number} stages", make=())
                made = _stage(context, made._replace(spec=here), stage, spec.name)
        finally:
            begun.remove(spec.name)
    except HarnessError as error:
        context.problems.extend(error.below(spec.chosen.place, path))
        return Collection(spec, base.card, None, (), str(error))
    except Broken as error:
        return Collection(spec, base.card, None, (), str(error))
    names = " -> ".join(stage.chosen.name for stage in stages)
    note = f"made of '{spec.of}': {names}" if spec.of and names else ""
    card = base.card._replace(official=(), notes=(*base.card.notes, *filter(None, (note,))))
    return made._replace(spec=spec, card=card)


def _stage(context: Context, before: Collection, stage: Stage, dataset: str) -> Collection:
    """The collection after one stage."""
    chosen, record = stage.chosen, stage.chosen.entry.record
    named = {
        kind: name for kind, name in (("retrievers", record.encoder), ("rerankers", record.scorer))
        if name is not None and getattr(chosen.params, name) is not None
    }  # fmt: skip
    maker = resolved(context, before, chosen, "passage", tuple(named.values()))
    runs = {name: _hits(context, before, stage, name) for name in made_datasets.named(chosen, "systems")}
    others = {name: other(context, chosen, name) for name in made_datasets.named(chosen, "splits")}
    helpers, needs = {}, maker.needs
    for kind, name in named.items():
        helpers[kind], more = helper(context, before, chosen, name, kind)
        needs = (*needs, *more)
    return make.stage(
        context.graph, before, dataset, maker._replace(needs=needs), runs, others,
        helpers.get("retrievers"), helpers.get("rerankers"),
    )  # fmt: skip


def _hits(context: Context, before: Collection, stage: Stage, name: str) -> Ref[Hits]:
    """The hits of a system on the collection before the stage."""
    chosen = stage.chosen
    if all(system.name != name for system in context.suite.systems):
        grid = sorted(system.name for system in context.suite.systems if system.base == name)
        if not grid:  # noted when the suite was checked
            raise Broken(f"there is no system '{name}'")
        text = f"'{name}' is several systems; name one of them: {', '.join(grid)}"
        context.refuse(chosen.place, (chosen.name,), text)
    output = systems.output(context, before, name)
    if output.unit != "passage":
        text = f"'{name}' finds documents, and a pool is of passages; name another system"
        context.refuse(chosen.place, (chosen.name,), text)
    return output.hits


def other(context: Context, chosen: Chosen, name: str) -> Collection:
    """The collection of the dataset, or of the split of a dataset, that a maker or an analysis reads."""
    memo, specs = context.memo, {spec.name: spec for spec in context.suite.datasets}
    base, split = made_datasets.parted(name, set(specs))
    if base not in specs:  # noted when the suite was checked
        raise Broken(f"there is no dataset '{base}'")
    path = ("datasets", chosen.name)
    planned = memo.collections.get(base) or memo.splits.get(base)
    if planned is None:
        planned = memo.splits[base] = collection(context, specs[base])
    if split is not None and planned.card.split != split:
        if name not in memo.splits:
            spec = with_split(context, specs[base], split, chosen.place, path, "name another")
            memo.splits[name] = collection(context, spec)
        planned = memo.splits[name]
    if planned.parts is None:
        raise Broken(planned.error or f"'{name}' lacks its data: {planned.needs[0]}")
    return planned


def split_of(context: Context, on: tuple[str, str], place: Place, path: Keys, advice: str) -> Collection:
    """The collection of the split that a suite names for tuning or training. The suite must not score this
    split; `advice` says what to do if it does. Raises Broken."""
    name, split = on
    key, memo = f"{name}/{split}", context.memo
    if key not in memo.splits:
        spec = next(spec for spec in context.suite.datasets if spec.name == name)
        known = memo.collections.get(name)
        if known is None or known.card.split != split:
            known = collection(context, with_split(context, spec, split, place, path, advice))
        memo.splits[key] = known
    planned = memo.splits[key]
    if planned.parts is None:
        needs = map(str, planned.needs)
        raise Broken(planned.error or next(needs, f"'{key}' failed while planning"))
    unscored = SplitOfItsOwn(key, place, path, advice)
    memo.unscored.append(unscored)
    _refuse_scored(context, unscored)
    return planned


def refuse_scored(context: Context) -> None:
    """Notes a problem for each split that is tuned or trained on and scored. Called after planning them."""
    for unscored in context.memo.unscored:
        with contextlib.suppress(Broken):
            _refuse_scored(context, unscored)


def _refuse_scored(context: Context, unscored: SplitOfItsOwn) -> None:
    judgements = context.memo.splits[unscored.name].planned.judgements
    for scored in context.memo.collections.values():
        if scored.parts is not None and scored.parts.judgements == judgements and scored.spec.scored:
            text = f"'{unscored.name}' is what the suite scores as '{scored.spec.name}'"
            context.refuse(unscored.place, unscored.path, f"{text}; {unscored.advice}")


def with_split(
    context: Context, spec: DatasetSpec, split: str, place: Place | None, path: Keys, advice: str
) -> DatasetSpec:
    """The dataset with another split. Raises Broken if it has no such split."""
    changed = made_datasets.with_split(spec, split, context.suite.path.parent)
    if isinstance(changed, str):
        context.refuse(place, path, f"{changed}; {advice}")
    return changed
