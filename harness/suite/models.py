"""The section `models` of a suite: how each model is made, and the parameters that name a made model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from harness.catalogue import params
from harness.made_models import Made, Seed, references
from harness.problems import Keys, Place, Problem, unknown
from harness.suite.model import Chosen
from harness.suite.yaml_nodes import Node
from harness.types import JSON

if TYPE_CHECKING:
    from harness.suite.forms import Forms
    from harness.suite.model import DatasetSpec, System

KEYS = ("train", "on", "level", "queries", "negatives", "validate", "seeds")
NEGATIVES = ("of", "depth", "take", "below", "above", "draw", "positives_above", "undenoised", "fill")
REFERENCE = ("made", "part", "checkpoint")
MOST_CHECKPOINTS = 1000
Split = tuple[str, str]  # dataset and split


class Negatives(NamedTuple):
    """The rules by which a trainer takes negatives from a system's run on the training queries."""

    of: str  # the system
    depth: int  # how many hits of the run are considered per query
    take: int  # how many negatives of a query are used in one epoch
    below: float | None  # only passages that the run scores lower than this are taken
    above: float | None  # only passages that the run scores higher than this are taken
    draw: Literal["sample", "stride"]
    positives_above: float | None  # unjudged passages that the run scores higher than this are positives too
    undenoised: float  # the share of the negatives that are taken regardless of `below` and `above`
    fill: bool  # whether random passages are added where the run has too few


class Subset(NamedTuple):
    """A part of a corpus: the top of a system's run on the validation queries, and the judged passages."""

    of: str
    depth: int
    whole: bool  # whether the whole corpus is searched too, to test whether the part ranks checkpoints alike


class Validation(NamedTuple):
    """The validation of a model, which finds its best checkpoint."""

    on: Split
    measure: str
    checkpoints: int  # their number; they are spread evenly over the training, the last at its end
    of: str | None  # the system that is evaluated; None: the first system that uses the model
    corpus: Subset | None  # the part of the corpus that is searched; None: the whole corpus


class ModelSpec(NamedTuple):
    name: str
    train: Chosen
    on: tuple[Split, ...]
    negatives: Negatives | None
    validate: Validation | None
    seeds: tuple[int, ...]
    place: Place
    level: int  # the lowest grade of a positive
    queries: int | None  # how many training queries are used; None: all


def referred(forms: Forms, node: Node, path: Keys) -> JSON:
    """The plain value of parameters, with a `Made` in the place of each `{made: NAME}`. If the model has
    several seeds, the value is a grid: a list with one `Made` per seed."""
    if isinstance(node.value, list):
        return [referred(forms, item, path) for item in node.value]
    if not isinstance(node.value, dict):
        return node.plain()
    if "made" not in node.value:
        return {key: referred(forms, item, (*path, key)) for key, item in node.value.items()}
    values = forms.mapping(node, path, REFERENCE)
    name = forms.scalar(values, "made", str, "the name of a model", "", path=path)
    part = forms.scalar(values, "part", str, "the name of a part", None, path=path)
    checkpoint = forms.scalar(values, "checkpoint", int, "a whole number", None, least=1, path=path)
    seeds = forms.made.get(name)
    if seeds is None:
        if name:
            forms.note(values["made"], (*path, "made"), unknown("model", name, forms.made))
        return Made(name, part, checkpoint)
    if len(seeds) == 1 or forms.making:
        return Made(name, part, checkpoint)
    return [Made(name, part, checkpoint, Seed(seed)) for seed in seeds]


def seeds_of(forms: Forms, node: Node | None, usual: int) -> dict[str, tuple[int, ...]]:
    """The seeds of each model by its name. They are read before the systems, whose parameters name models."""
    seeds_of_models: dict[str, tuple[int, ...]] = {}
    items = node.value.items() if node is not None and isinstance(node.value, dict) else ()
    for name, item in items:
        seeds_node = item.value.get("seeds") if isinstance(item.value, dict) else None
        seeds = seeds_node.plain() if seeds_node is not None else [usual]
        whole = isinstance(seeds, list) and all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
        if seeds_node is not None and not (whole and seeds and len(set(seeds)) == len(seeds)):
            forms.note(
                seeds_node, ("models", name, "seeds"), "expected a list of different whole numbers: [0, 1, 2]"
            )
            seeds = [usual]
        seeds_of_models[str(name)] = tuple(seeds)
    return seeds_of_models


def read(forms: Forms, node: Node | None) -> tuple[ModelSpec, ...]:
    """The models of the suite that could be read. Problems are noted in `forms`."""
    if node is None:
        return ()
    values = forms.mapping(node, ("models",), tuple(node.value) if isinstance(node.value, dict) else ())
    forms.making = True
    specs = [spec for name, item in values.items() if (spec := _model(forms, name, item)) is not None]
    forms.making = False
    return tuple(specs)


def _model(forms: Forms, name: str, item: Node) -> ModelSpec | None:
    path = ("models", name)
    values = forms.mapping(item, path, KEYS)
    if not isinstance(item.value, dict):
        return None
    missing = [key for key in ("train", "on") if key not in values]
    for key in missing:
        says = {"train": "say how: {dual-encoder: {...}}", "on": "say on what it trains: DATASET/SPLIT"}[key]
        forms.note(item, path, f"'{key}' is missing; {says}")
    if missing:
        return None
    train = forms.chosen(values["train"], (*path, "train"), "trainers")
    nodes = values["on"].value if isinstance(values["on"].value, list) else [values["on"]]
    on = tuple(_split(forms, one, (*path, "on")) for one in nodes)
    if not on:
        forms.note(values["on"], (*path, "on"), "is empty; say on what it trains: DATASET/SPLIT")
    mined, tried = values.get("negatives"), values.get("validate")
    negatives = None if mined is None else _negatives(forms, mined, (*path, "negatives"))
    validate = None if tried is None else _validation(forms, tried, (*path, "validate"))
    splits = tuple(one for one in on if one is not None)
    if train is None or len(splits) < len(on) or not splits:
        return None
    level = forms.scalar(values, "level", int, "a grade", 1, path=path)
    queries = forms.scalar(values, "queries", int, "a whole number", None, least=1, path=path)
    seeds = forms.made[name]
    return ModelSpec(name, train, splits, negatives, validate, seeds, item.place, level, queries)


def _negatives(forms: Forms, node: Node, path: Keys) -> Negatives | None:
    values = forms.mapping(node, path, NEGATIVES)
    if not isinstance(node.value, dict):
        return None
    of = forms.scalar(values, "of", str, "the name of a system", None, path=path)
    if of is None and "of" not in values:
        forms.note(node, path, "'of' is missing; name the system whose run they are taken from")
    depth = forms.scalar(values, "depth", int, "a whole number", 50, least=1, most=1_000_000, path=path)
    take = forms.scalar(values, "take", int, "a whole number", 4, least=1, most=1_000_000, path=path)
    below = forms.scalar(values, "below", float, "a score", None, path=path)
    above = forms.scalar(values, "above", float, "a score", None, path=path)
    draw = forms.choice(values, "draw", ("sample", "stride"), path)
    trusted = forms.scalar(values, "positives_above", float, "a score", None, path=path)
    share = forms.scalar(values, "undenoised", float, "a share from 0 to 1", 0.0, path=path)
    if not 0 <= share <= 1:
        forms.note(values["undenoised"], (*path, "undenoised"), "expected a share from 0 to 1")
    fill = forms.scalar(values, "fill", bool, "true or false", False, path=path)
    return None if of is None else Negatives(of, depth, take, below, above, draw, trusted, share, fill)


def _validation(forms: Forms, node: Node, path: Keys) -> Validation | None:
    values = forms.mapping(node, path, ("on", "measure", "checkpoints", "of", "corpus"))
    for key in ("on", "measure"):
        if isinstance(node.value, dict) and key not in values:
            says = {"on": "DATASET/SPLIT", "measure": "a measure such as RR@10"}[key]
            forms.note(node, path, f"'{key}' is missing; give it {says}")
    on = _split(forms, values["on"], (*path, "on")) if "on" in values else None
    measure = forms.scalar(values, "measure", str, "a measure such as RR@10", None, path=path)
    checkpoints = forms.scalar(
        values, "checkpoints", int, "a whole number", 5, least=1, most=MOST_CHECKPOINTS, path=path
    )
    of = forms.scalar(values, "of", str, "the name of a system", None, path=path)
    corpus = _subset(forms, values["corpus"], (*path, "corpus")) if "corpus" in values else None
    return None if on is None or measure is None else Validation(on, measure, checkpoints, of, corpus)


def _subset(forms: Forms, node: Node, path: Keys) -> Subset | None:
    values = forms.mapping(node, path, ("of", "depth", "whole"))
    if not isinstance(node.value, dict):
        return None
    of = forms.scalar(values, "of", str, "the name of a system", None, path=path)
    if of is None and "of" not in values:
        forms.note(node, path, "'of' is missing; name the system whose best results are searched")
    depth = forms.scalar(values, "depth", int, "a whole number", 100, least=1, most=1_000_000, path=path)
    whole = forms.scalar(values, "whole", bool, "true or false", False, path=path)
    return None if of is None else Subset(of, depth, whole)


def _split(forms: Forms, node: Node, path: Keys) -> Split | None:
    name, slash, split = node.value.rpartition("/") if isinstance(node.value, str) else ("", "", "")
    if not (slash and name and split):
        forms.note(node, path, f"expected DATASET/SPLIT, got {params.shown(node.plain())}")
        return None
    return name, split


def problems(
    specs: Sequence[ModelSpec], datasets: Sequence[DatasetSpec], systems: Sequence[System]
) -> Iterator[Problem]:
    """A problem for each dataset, system or split that a model names wrongly."""
    known = {spec.name for spec in datasets}
    names = {system.name for system in systems} | {system.base for system in systems}
    for spec in specs:
        path = ("models", spec.name)
        for name, _ in [*spec.on, *([spec.validate.on] if spec.validate else [])]:
            if name not in known:
                yield Problem(spec.place, path, unknown("dataset", name, known))
        for name in systems_used([spec]):
            if name not in names:
                yield Problem(spec.place, path, unknown("system", name, names))
        if spec.validate and spec.validate.on in spec.on:
            text = f"'{'/'.join(spec.validate.on)}' is trained on; take another split"
            yield Problem(spec.place, (*path, "validate"), text)


def systems_used(specs: Sequence[ModelSpec]) -> list[str]:
    """The names of the systems that models take negatives from or are validated by."""
    names = [spec.negatives.of for spec in specs if spec.negatives]
    for tried in (spec.validate for spec in specs if spec.validate):
        names += [tried.of] if tried.of else []
        names += [tried.corpus.of] if tried.corpus else []
    return names


def splits_used(specs: Sequence[ModelSpec]) -> set[str]:
    """The names of the datasets that models are trained or validated on."""
    return {name for spec in specs for name, _ in [*spec.on, *([spec.validate.on] if spec.validate else [])]}


def plain(spec: ModelSpec) -> JSON:
    """The specification of a model as plain data, for the suite's digest."""
    train = spec.train
    parts = [spec.name, train.name, train.as_written, spec.on, spec.negatives, spec.validate, spec.seeds,
             spec.level, spec.queries]  # fmt: skip
    return params.plain(parts)


def models_of(system: System) -> list[Made]:
    """The models that a system's own retriever and re-rankers name."""
    chosen = [system.retriever, *(item.chosen for item in system.rerank)]
    return [made for item in chosen if item is not None for made in references(item.params)]
