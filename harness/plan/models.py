"""Plans the models that a suite makes: their examples, their training with each seed, their validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import made_models
from harness.catalogue import params
from harness.made_models import Made, Planned
from harness.plan import context as contexts
from harness.plan import datasets, examples, plugin_calls, systems, train, validate
from harness.plan import subset as subsets
from harness.plan.graph import Collection
from harness.plan.plugin_calls import Broken
from harness.problems import Place
from harness.steps.record import Ref
from harness.steps.results import Lists, Weights
from harness.steps.train import Source
from harness.suite import Chosen, System
from harness.suite.models import ModelSpec, Negatives, Subset, Validation, models_of
from harness.types import JSON

if TYPE_CHECKING:
    from harness.plan.context import Context


class Trained(NamedTuple):
    """The steps that make one model with one seed."""

    checkpoints: tuple[Ref[Weights], ...]  # in order
    chosen: str  # the last of them, or the `validate` step that says which is best
    parts: tuple[str, ...]
    recipe: Mapping[str, JSON]  # the parameters of the trainer


def planned(context: Context, reference: Made, place: Place | None) -> Planned:
    """The model that a parameter names. Raises Broken."""
    spec = next((spec for spec in context.suite.models if spec.name == reference.name), None)
    if spec is None:  # its problems are noted in the section `models`
        raise Broken(f"the model '{reference.name}' could not be planned")
    if reference.seed is not None and reference.seed not in spec.seeds:
        context.refuse(place, (), f"the model '{spec.name}' has no seed {reference.seed}; give it that one")
    trained = _trained(context, spec, int(spec.seeds[0] if reference.seed is None else reference.seed))
    part = reference.part or trained.parts[0]
    if part not in trained.parts or (reference.part is None and len(trained.parts) > 1):
        several = f"has the parts {', '.join(trained.parts)}; write {{made: {spec.name}, part: PART}}"
        what = several if len(trained.parts) > 1 else "has no parts; leave 'part' out"
        context.refuse(place, (), f"the model '{spec.name}' {what}")
    if reference.checkpoint is None:
        return Planned(trained.chosen, part, trained.recipe)
    if reference.checkpoint > len(trained.checkpoints):
        text = f"the model '{spec.name}' has no checkpoint {reference.checkpoint}"
        context.refuse(place, (), f"{text}; choose one from 1 to {len(trained.checkpoints)}")
    return Planned(trained.checkpoints[reference.checkpoint - 1].step, part, trained.recipe)


def _trained(context: Context, spec: ModelSpec, seed: int) -> Trained:
    """The steps that make a model with one seed, planned once. Raises Broken."""
    key, memo = (spec.name, seed), context.memo.trained
    if key not in memo:
        memo[key] = None
        try:
            memo[key] = _training(context, spec, seed)
        except Broken as error:
            memo[key] = error
            raise
    trained = memo[key]
    if trained is None:
        context.refuse(spec.place, ("models", spec.name), "is made of itself; break the circle")
    if isinstance(trained, Broken):
        raise trained
    return trained


def _training(context: Context, spec: ModelSpec, seed: int) -> Trained:
    path, advice = ("models", spec.name, "on"), "train on another split"
    collections = [datasets.split_of(context, on, spec.place, path, advice) for on in spec.on]
    trainer = contexts.resolved(context, collections[0], _of_seed(context, spec.train, seed), "passage")
    sources = tuple(
        Source(_examples(context, spec, item, seed), item.planned.queries, item.planned.corpus)
        for item in collections
    )
    checkpoints = train.steps(context.graph, spec, _subject(spec, seed), seed, trainer, sources)
    with context.guarded(trainer.chosen):
        parts = plugin_calls.parts(trainer.chosen.entry.record, trainer.chosen.params)
    last = Trained(checkpoints, checkpoints[-1].step, parts, trainer.method.given)
    if spec.validate is None:
        return last
    context.memo.trained[spec.name, seed] = last  # the systems that try the checkpoints refer to the model
    return last._replace(chosen=_validated(context, spec, spec.validate, seed, last))


def _of_seed(context: Context, chosen: Chosen, seed: int) -> Chosen:
    """The trainer with parameters that refer to other made models. A reference to a model that is trained
    with `seed` too gets this seed."""
    seeds = {spec.name: spec.seeds for spec in context.suite.models}

    def seeded(reference: Made) -> Made:
        if reference.seed is None and seed in seeds.get(reference.name, ()):
            return Made(reference.name, reference.part, reference.checkpoint, made_models.Seed(seed))
        return reference

    return chosen._replace(params=made_models.replaced(chosen.params, seeded))


def _examples(context: Context, spec: ModelSpec, collection: Collection, seed: int) -> Ref[Lists]:
    """The step that lists each training query's positives and the negatives to draw from."""
    negatives = spec.negatives
    if negatives is None:
        return examples.step(context.graph, collection, spec.level, None, None)
    path = ("models", spec.name, "negatives")
    if negatives.of is None:
        output = systems.unshared(context, collection, _reader_of(context, spec, negatives))
    else:
        output = systems.output(context, collection, _system(context, negatives.of, seed))
    if output.unit != "passage":
        text = f"'{negatives.of}' finds documents, and negatives are passages; name another system"
        context.refuse(spec.place, path, text)
    return examples.step(context.graph, collection, spec.level, negatives, output.hits)


def _reader_of(context: Context, spec: ModelSpec, negatives: Negatives) -> System:
    """A system whose retriever reads the file that a model takes its negatives from."""
    assert negatives.file is not None
    entries = [entry for offers in context.catalogue.entries["retrievers"].values() for entry in offers]
    entry = next((entry for entry in entries if entry.record.of_file is not None), None)
    if entry is None:
        path = ("models", spec.name, "negatives", "file")
        context.refuse(spec.place, path, "no plugin is here that reads files of negatives; name a system")
    given = dict(entry.record.of_file(negatives.file))
    values, problems = params.convert(entry.record.params, given, Path())
    assert not problems, problems
    chosen = Chosen(entry, {"file": negatives.file.name}, values, spec.place)
    return System(
        name=negatives.file.name, base=spec.name, varied=(), context=None, retriever=chosen, unit="passage",
        of=(), combine=None, rerank=(), place=spec.place, scored=False,
    )  # fmt: skip


def _system(context: Context, name: str, seed: int) -> str:
    """The name of the system `NAME,seed=SEED` if the suite has it, else `name`."""
    names = {system.name for system in context.suite.systems}
    return f"{name},seed={seed}" if f"{name},seed={seed}" in names else name


def _validated(context: Context, spec: ModelSpec, how: Validation, seed: int, trained: Trained) -> str:
    """The id of the step that scores the evaluated system with each checkpoint and names the best one."""
    path = ("models", spec.name, "validate")
    collection = datasets.split_of(context, how.on, spec.place, path, "validate on another split")
    system = _evaluated(context, spec, how, seed)
    subset = how.corpus
    searched = collection if subset is None else _subset(context, spec, collection, subset, seed)
    tried = [_with(system, spec.name, number + 1) for number in range(len(trained.checkpoints))]
    hits = [systems.unshared(context, searched, one).hits for one in tried]
    whole = []
    if subset is not None and subset.whole:
        whole = [systems.unshared(context, collection, one).hits for one in tried]
    measured = contexts.measured(context, how.measure, collection)
    return validate.step(
        context.graph, collection, searched, spec, how, seed, _subject(spec, seed), trained.checkpoints, hits,
        whole, measured, system.unit,
    ).step  # fmt: skip


def _subset(
    context: Context, spec: ModelSpec, collection: Collection, subset: Subset, seed: int
) -> Collection:
    output = systems.output(context, collection, _system(context, subset.of, seed))
    if output.unit != "passage":
        text = f"'{subset.of}' finds documents, and passages are searched; name another system"
        context.refuse(spec.place, ("models", spec.name, "validate", "corpus"), text)
    return subsets.shortened(context.graph, collection, subset, output.hits)


def _subject(spec: ModelSpec, seed: int) -> str:
    return f"{spec.name}, seed {seed}" if len(spec.seeds) > 1 else spec.name


def _evaluated(context: Context, spec: ModelSpec, how: Validation, seed: int) -> System:
    """The system that is evaluated with each checkpoint."""
    path = ("models", spec.name, "validate")
    if how.of is not None:
        name = _system(context, how.of, seed)
        named = next((system for system in context.suite.systems if name in (system.name, system.base)), None)
        using = [] if named is None else [named]
    else:
        using = list(context.suite.systems)
    fitting = [
        system for system in using
        if any(item.name == spec.name and item.seed in (None, seed) for item in models_of(system))
    ]  # fmt: skip
    if not fitting:
        what = f"'{how.of}' does not use the model" if how.of else "no system uses the model"
        context.refuse(spec.place, path, f"{what}; say 'of: SYSTEM', a system with {{made: {spec.name}}}")
    return fitting[0]


def _with(system: System, name: str, checkpoint: int) -> System:
    """The system with the checkpoint of that number in the place of the model `name`."""

    def changed(chosen: Chosen) -> Chosen:
        def put(reference: Made) -> Any:
            if reference.name != name:
                return reference
            return Made(reference.name, reference.part, checkpoint, reference.seed)

        return chosen._replace(params=made_models.replaced(chosen.params, put))

    reranks: Sequence[Any] = [item._replace(chosen=changed(item.chosen)) for item in system.rerank]
    retriever = None if system.retriever is None else changed(system.retriever)
    label = f"{system.name}, checkpoint {checkpoint} of {name}"
    return system._replace(name=label, retriever=retriever, rerank=tuple(reranks))
