"""Plans the steps that make a model: finding negatives, training in segments, and validation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import made_models
from harness.made_models import Made
from harness.plan import answers
from harness.plan.chosen_methods import work_of
from harness.plan.graph import Collection
from harness.plan.guard import Broken
from harness.plan.kinds import PARTS
from harness.plan.tuning import split_of
from harness.problems import Place
from harness.suite import Chosen, System
from harness.suite.models import ModelSpec, Subset, Validation, models_of
from harness.types import JSON

if TYPE_CHECKING:
    from harness.plan.systems import Systems


CIRCLE = "is made of itself; break the circle"


class Trained(NamedTuple):
    """The steps that make one model with one seed."""

    checkpoints: tuple[str, ...]  # `train` steps, in order
    chosen: str  # the last of them, or the `validate` step that says which is best
    parts: tuple[str, ...]


def planned(planner: Systems, reference: Made, place: Place | None) -> str:
    """The text by which a step's parameters name a made model. Raises Broken."""
    spec = next((spec for spec in planner.suite.models if spec.name == reference.name), None)
    if spec is None:  # its problems are noted in the section `models`
        raise Broken(f"the model '{reference.name}' could not be planned")
    if reference.seed is not None and reference.seed not in spec.seeds:
        planner.refuse(place, (), f"the model '{spec.name}' has no seed {reference.seed}; give it that one")
    trained = _trained(planner, spec, int(spec.seeds[0] if reference.seed is None else reference.seed))
    part = reference.part or trained.parts[0]
    if part not in trained.parts or (reference.part is None and len(trained.parts) > 1):
        several = f"has the parts {', '.join(trained.parts)}; write {{made: {spec.name}, part: PART}}"
        what = several if len(trained.parts) > 1 else "has no parts; leave 'part' out"
        planner.refuse(place, (), f"the model '{spec.name}' {what}")
    step = trained.chosen
    if reference.checkpoint is not None:
        if reference.checkpoint > len(trained.checkpoints):
            text = f"the model '{spec.name}' has no checkpoint {reference.checkpoint}"
            planner.refuse(place, (), f"{text}; choose one from 1 to {len(trained.checkpoints)}")
        step = trained.checkpoints[reference.checkpoint - 1]
    return made_models.planned(step, part)


def _trained(planner: Systems, spec: ModelSpec, seed: int) -> Trained:
    """The steps that make a model with one seed, planned once. Raises Broken."""
    key = (spec.name, seed)
    if key not in planner.trained:
        planner.trained[key] = CIRCLE
        try:
            planner.trained[key] = _plan(planner, spec, seed)
        except Broken as error:
            planner.trained[key] = str(error)
            raise
    trained = planner.trained[key]
    if trained == CIRCLE:
        planner.refuse(spec.place, ("models", spec.name), CIRCLE)
    if isinstance(trained, str):
        raise Broken(trained)
    return trained


def _plan(planner: Systems, spec: ModelSpec, seed: int) -> Trained:
    path = ("models", spec.name, "on")
    advice = "train on another split"
    collections = [split_of(planner, on, spec.place, path, advice) for on in spec.on]
    sources = [_examples(planner, spec, collection, seed) for collection in collections]
    chosen, first = _of_seed(planner, spec.train, seed), collections[0]
    values, needs = planner.resolved(first, chosen, "passage")
    segments = spec.validate.checkpoints if spec.validate else 1
    negatives = spec.negatives
    drawing = {
        "take": negatives.take if negatives else 0,
        "draw": negatives.draw if negatives else "sample",
        "share": negatives.undenoised if negatives else 0.0,
        "queries": spec.queries,
    }
    ids = [step for step, collection in zip(sources, collections, strict=True)
           for step in (step, collection.parts["corpus"])]  # fmt: skip
    checkpoints: list[str] = []
    for segment in range(segments):
        described = {
            "method": planner.method(first, chosen, values),
            "seed": seed,
            "segment": [segment, segments],
            **drawing,
        }
        work = {
            "method": work_of(chosen, values), "language": first.card.language, "seed": seed,
            "segment": segment, "segments": segments, **drawing,
            "before": checkpoints[-1] if checkpoints else None, "recipe": [spec.name, seed],
            "backbone": _backbone(chosen, values),
            "sources": [
                {"examples": step, "corpus": collection.parts["corpus"]}
                for step, collection in zip(sources, collections, strict=True)
            ],
        }  # fmt: skip
        subject = _subject(spec, seed) + (f" ({segment + 1} of {segments})" if segments > 1 else "")
        inputs = (*ids, *checkpoints[-1:])
        checkpoints.append(planner.add("train", "", subject, described, work, inputs, needs))
    with planner.guarded(chosen):
        parts = answers.parts(chosen.entry.record, chosen.params)
    last = Trained(tuple(checkpoints), checkpoints[-1], parts)
    if spec.validate is None:
        return last
    planner.trained[spec.name, seed] = last  # the systems that try the checkpoints refer to the model
    return last._replace(chosen=_validated(planner, spec, spec.validate, seed, last))


def backbones(planner: Systems, described: JSON) -> list[str]:
    """The models without which the made models of a step's description cannot be loaded: folders, and texts
    that name made models. A made model may change another one, and that one a third."""
    needed: list[str] = []
    for step in made_models.steps_in(described):
        training = planner.steps[step]
        if training.kind == "validate":
            training = planner.steps[training.work["checkpoints"][0]]
        if training.work["backbone"] is not None:
            needed += [training.work["backbone"], *training.work.get("backbones", [])]
    return list(dict.fromkeys(needed))


def _backbone(chosen: Chosen, values: Any) -> str | None:
    """The model without which the trained one cannot be loaded, if it is a folder or a made model. A model
    of the hub needs no place, because its name is enough."""
    name = chosen.entry.record.backbone
    value = None if name is None else getattr(values, name)
    return str(value) if isinstance(value, Path) or made_models.is_planned(value) else None


def _of_seed(planner: Systems, chosen: Chosen, seed: int) -> Chosen:
    """The trainer with parameters that refer to other made models. A reference to a model that is trained
    with `seed` too gets this seed."""
    seeds = {spec.name: spec.seeds for spec in planner.suite.models}

    def seeded(reference: Made) -> Made:
        if reference.seed is None and seed in seeds.get(reference.name, ()):
            return Made(reference.name, reference.part, reference.checkpoint, made_models.Seed(seed))
        return reference

    return chosen._replace(params=made_models.replaced(chosen.params, seeded))


def _examples(planner: Systems, spec: ModelSpec, collection: Collection, seed: int) -> str:
    """The id of the step that lists each training query's positives and the negatives to draw from."""
    negatives = spec.negatives
    parts = [collection.parts[part] for part in PARTS]
    if negatives is None:
        described: JSON = {"negatives": None, "level": spec.level}
        return planner.add("examples", collection.spec.name, "", described, described, parts, ())
    output = planner.output(collection, _system(planner, negatives.of, seed))
    if output.unit != "passage":
        text = f"'{negatives.of}' finds documents, and negatives are passages; name another system"
        planner.refuse(spec.place, ("models", spec.name, "negatives"), text)
    if negatives.depth > planner.suite.depth:
        text = f"depth: {negatives.depth}, but the suite's depth is {planner.suite.depth}; raise that one"
        planner.refuse(spec.place, ("models", spec.name, "negatives"), text)
    cut = {
        "depth": negatives.depth, "below": negatives.below, "above": negatives.above,
        "positives_above": negatives.positives_above, "undenoised": negatives.undenoised > 0,
        "fill": negatives.take if negatives.fill else 0,
    }  # fmt: skip
    subject, described = f"negatives of {negatives.of}", {"negatives": cut, "level": spec.level}
    inputs = (output.hits, *parts)
    return planner.add("examples", collection.spec.name, subject, described, described, inputs, ())


def _system(planner: Systems, name: str, seed: int) -> str:
    """The name of the system `NAME,seed=SEED` if the suite has it, else `name`."""
    names = {system.name for system in planner.suite.systems}
    return f"{name},seed={seed}" if f"{name},seed={seed}" in names else name


def _validated(planner: Systems, spec: ModelSpec, how: Validation, seed: int, trained: Trained) -> str:
    """The id of the step that scores the evaluated system with each checkpoint and names the best one."""
    path = ("models", spec.name, "validate")
    collection = split_of(planner, how.on, spec.place, path, "validate on another split")
    system = _evaluated(planner, spec, how, seed)
    rules = planner.rules(collection)
    subset = how.corpus
    searched = collection if subset is None else _subset(planner, spec, collection, subset, seed)
    tried = [_with(system, spec.name, number + 1) for number in range(len(trained.checkpoints))]
    hits = [planner.unshared(searched, one).hits for one in tried]
    whole: list[str] = []
    if subset is not None and subset.whole:
        whole = [planner.unshared(collection, one).hits for one in tried]
    described_measure = {"measure": how.measure, "rules": rules, "unit": system.unit}
    described = {**described_measure, "measured": planner.measured(how.measure)}
    if whole:
        described["whole"] = len(whole)
    work = {
        **described_measure,
        "checkpoints": list(trained.checkpoints),
        "hits": hits,
        "whole": whole,
        "on": "/".join(how.on),
        "subset": subset and {"of": subset.of, "depth": subset.depth},
        "recipe": [spec.name, seed],
    }
    parts = [searched.parts[part] for part in PARTS]
    ids = dict.fromkeys([*hits, *whole, *trained.checkpoints, *parts])
    return planner.add(
        "validate", collection.spec.name, _subject(spec, seed), described, work, tuple(ids), ()
    )


def _subset(
    planner: Systems, spec: ModelSpec, collection: Collection, subset: Subset, seed: int
) -> Collection:
    """The collection with fewer candidates: the top of a run and the judged passages. All other passages
    still serve as context."""
    output = planner.output(collection, _system(planner, subset.of, seed))
    if output.unit != "passage" or subset.depth > planner.suite.depth:
        text = f"'{subset.of}' must find {subset.depth} passages or more; raise the suite's depth"
        planner.refuse(spec.place, ("models", spec.name, "validate", "corpus"), text)
    described: JSON = {"subset": subset.depth}
    inputs = (output.hits, *(collection.parts[part] for part in PARTS))
    name = f"{collection.spec.name}, top {subset.depth} of {subset.of}"
    step = planner.add("corpus", name, "", described, described, inputs, ())
    parts = {**collection.parts, "corpus": step}
    return collection._replace(spec=collection.spec._replace(name=name), parts=parts)


def _subject(spec: ModelSpec, seed: int) -> str:
    return f"{spec.name}, seed {seed}" if len(spec.seeds) > 1 else spec.name


def _evaluated(planner: Systems, spec: ModelSpec, how: Validation, seed: int) -> System:
    """The system that is evaluated with each checkpoint."""
    path = ("models", spec.name, "validate")
    if how.of is not None:
        name = _system(planner, how.of, seed)
        named = next((system for system in planner.suite.systems if name in (system.name, system.base)), None)
        using = [] if named is None else [named]
    else:
        using = list(planner.suite.systems)
    fitting = [
        system for system in using
        if any(item.name == spec.name and item.seed in (None, seed) for item in models_of(system))
    ]  # fmt: skip
    if not fitting:
        what = f"'{how.of}' does not use the model" if how.of else "no system uses the model"
        planner.refuse(spec.place, path, f"{what}; say 'of: SYSTEM', a system with {{made: {spec.name}}}")
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
