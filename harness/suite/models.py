"""The section `models` of a suite: how each model is made, and the parameters that name a made model."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from harness.catalogue import params
from harness.made_models import Made, Seed, references
from harness.problems import Keys, Place, Problem, unknown
from harness.suite.keys import (
    MEASURE,
    MOST,
    SEEDS,
    SPLIT,
    SYSTEM,
    Form,
    Split,
    key,
    list_of,
    plugin,
    seeds_in,
    within,
)
from harness.suite.model import Chosen, System
from harness.suite.yaml_nodes import Node
from harness.types import JSON

if TYPE_CHECKING:
    from harness.suite.forms import Forms


@dataclass(frozen=True)
class Negatives:
    """The rules by which a trainer takes negatives from a system's run on the training queries."""

    of: str | None = key(None, "the system whose run on the training queries is taken", form=SYSTEM)
    file: Path | None = key(None, "instead of a system: a run or training data of another tool")
    depth: int = key(50, "how many results of the run are candidates", minimum=1, maximum=MOST)
    take: int = key(4, "how many negatives a query gets in one epoch", minimum=1, maximum=MOST)
    below: float | None = key(None, "only candidates with lower scores")
    above: float | None = key(None, "only candidates with higher scores")
    draw: Literal["sample", "stride"] = key("sample", "at random, or with a stride from epoch to epoch")
    positives_above: float | None = key(None, "unjudged passages with a higher score are positives too")
    undenoised: float | Literal["lists"] = key(
        0.0,
        "the share drawn without regard to 'below' and 'above'; 'lists': such lists beside the others",
        minimum=0, maximum=1,
    )  # fmt: skip
    fill: bool = key(False, "whether random passages are added where the run has too few")
    without_answer: bool = key(False, "whether passages with an answer of the query are left out")

    @property
    def apart(self) -> bool:
        """Whether undenoised negatives stand in lists of their own."""
        return self.undenoised == "lists"

    @property
    def share(self) -> float:
        """The share of undenoised negatives within a list."""
        return 0.0 if self.undenoised == "lists" else self.undenoised


@dataclass(frozen=True)
class Subset:
    """A part of a corpus: the top of a system's run on the validation queries, and the judged passages."""

    of: str = key(help="the system whose best results are searched", form=SYSTEM)
    depth: int = key(100, "how many results of each validation query", minimum=1, maximum=MOST)
    whole: bool = key(False, "whether the whole corpus is searched too, to see if it ranks alike")


@dataclass(frozen=True)
class Paper:
    """The training of a publication that a recipe follows, as the publication counts it."""

    queries: int = key(help="how many queries it has", minimum=1)
    positives: int = key(help="how many positive passages these have together", minimum=1)
    steps: int | None = key(None, "how many steps it takes, if that is known", minimum=1)


SUBSET = within(Subset)


@dataclass(frozen=True)
class Validation:
    """The validation of a model, which finds its best checkpoint."""

    on: Split = key(help="DATASET/SPLIT", form=SPLIT)
    measure: str = key(help="a measure such as RR@10", form=MEASURE)
    checkpoints: int = key(5, "their number, after equal parts of the training", minimum=1, maximum=1000)
    of: str | None = key(
        None, "the system that is evaluated; without it, the first that uses the model", form=SYSTEM
    )
    corpus: Subset | None = key(None, "the part of the corpus that is searched; without it, all", form=SUBSET)


VALIDATION = within(Validation)
TRAINER = Form(lambda forms, node, path: forms.chosen(node, path, "trainers"), plugin("trainers"))


@dataclass(frozen=True)
class Model:
    """The keys of a model."""

    train: Chosen = key(help="how it is trained: {TRAINER: {...}}", form=TRAINER)
    on: tuple[Split, ...] = key(help="on what it trains: DATASET/SPLIT, or a list", form=list_of(SPLIT, 1))
    level: int = key(1, "the lowest grade of a positive", meant_by=("grade",))
    queries: int | None = key(None, "how many training queries are used; without it, all", minimum=1)
    negatives: Negatives | None = key(None, "where mined negatives come from", form=within(Negatives))
    validate: Validation | None = key(
        None, "how the best checkpoint is chosen; without it, the last", form=VALIDATION
    )
    seeds: tuple[int, ...] = key((), "one model for each; without it, the suite's seed", form=SEEDS)
    paper: Paper | None = key(
        None, "the size of a publication's training; the dry run shows the steps of both", form=within(Paper)
    )


@dataclass(frozen=True)
class Reference:
    """A value of a parameter that names a made model."""

    made: str = key(help="the name of a model of the suite")
    part: str | None = key(None, "which of the models that one training makes")
    checkpoint: int | None = key(None, "the number of a checkpoint; without it, the best one", minimum=1)


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
    paper: Paper | None = None  # the size of a publication's training


def referred(forms: Forms, node: Node, path: Keys) -> JSON:
    """The plain value of parameters, with a `Made` in the place of each `{made: NAME}`. If the model has
    several seeds, the value is a grid: a list with one `Made` per seed."""
    if isinstance(node.value, list):
        return [referred(forms, item, path) for item in node.value]
    if not isinstance(node.value, dict):
        return node.plain()
    if "made" not in node.value:
        return {key: referred(forms, item, (*path, key)) for key, item in node.value.items()}
    named = forms.section(Reference, node, path)
    if named is None:
        return Made("")
    if named.made not in forms.made:
        forms.note(node.value["made"], (*path, "made"), unknown("model", named.made, forms.made))
    seeds = forms.made.get(named.made, ())
    if len(seeds) < 2 or forms.making:
        return Made(named.made, named.part, named.checkpoint)
    return [Made(named.made, named.part, named.checkpoint, Seed(seed)) for seed in seeds]


def seeds_of(root: Node) -> dict[str, tuple[int, ...]]:
    """The seeds of each model by its name, empty if none are given. They are read before the systems, whose
    parameters name models."""
    models = root.at(("models",)).value if "models" in root.value else None
    items = models.items() if isinstance(models, dict) else ()
    return {name: seeds_in(item.at(("seeds",))) for name, item in items}


def read(forms: Forms, node: Node, path: Keys) -> tuple[ModelSpec, ...]:
    """The models of the suite that could be read, still without the suite's seed."""
    if not isinstance(node.value, dict):
        forms.note(node, path, f"expected a mapping of names, got {params.shown(node.plain())}")
        return ()
    forms.making = True
    read = {name: (item, forms.section(Model, item, (*path, name))) for name, item in node.value.items()}
    forms.making = False
    return tuple(
        ModelSpec(name, keys.train, keys.on, keys.negatives, keys.validate, keys.seeds, item.place,
                  keys.level, keys.queries, keys.paper)
        for name, (item, keys) in read.items() if keys is not None
    )  # fmt: skip


def problems(specs: Sequence[ModelSpec], depth: int) -> Iterator[Problem]:
    """The problems between the keys of each model. `depth` is the suite's."""
    for spec in specs:
        path = ("models", spec.name)
        mined, tried = spec.negatives, spec.validate
        if mined and (mined.of is None) == (mined.file is None):
            text = "expected either 'of', a system, or 'file', a run or training data"
            yield Problem(spec.place, (*path, "negatives"), text)
        corpus = tried.corpus if tried else None
        taken: list[tuple[Keys, Negatives | Subset | None]] = [
            (("negatives",), mined),
            (("validate", "corpus"), corpus),
        ]
        for keys, part in taken:
            number = part.depth if part is not None else 0
            if number > depth:
                text = f"takes {number} hits, but the suite's depth is {depth}; set depth: {number} or more"
                yield Problem(spec.place, (*path, *keys, "depth"), text)
        if tried and tried.on in spec.on:
            text = f"'{'/'.join(tried.on)}' is trained on; take another split"
            yield Problem(spec.place, (*path, "validate"), text)


def sound(
    specs: Sequence[ModelSpec], splits: Collection[Split], systems: Sequence[System]
) -> Iterator[ModelSpec]:
    """The models that can be planned, each without the keys that name an unknown split or system."""
    names = {name for system in systems for name in (system.name, system.base)}
    used = {made.name for system in systems for made in models_of(system)}
    for spec in specs:
        on = tuple(split for split in spec.on if split in splits)
        mined, tried = spec.negatives, spec.validate
        if (mined and (mined.of is None) == (mined.file is None)) or (
            mined and mined.of and mined.of not in names
        ):
            mined = None
        if tried is not None:
            read = {tried.of, tried.corpus and tried.corpus.of} - {None}
            tried = tried if tried.on in splits and spec.name in used and read <= names else None
        if on and spec.train.params is not None:
            yield spec._replace(on=on, negatives=mined, validate=tried)


def plain(spec: ModelSpec) -> JSON:
    """The specification of a model as plain data, for the suite's digest."""

    def values(section: Any) -> Any:  # without the keys' names, so that a digest does not change with these
        return None if section is None else dataclasses.astuple(section)

    train, tried = spec.train, values(spec.validate)
    mined: JSON = None
    if spec.negatives is not None:
        keys = dataclasses.asdict(spec.negatives)
        file, answerless = keys.pop("file"), keys.pop("without_answer")
        # keys that came later stand at the end, and only if they are given
        mined = [*keys.values(), *([file.name] if file else []), *(["without_answer"] * answerless)]
    return params.plain([spec.name, train.name, train.as_written, spec.on, mined, tried, spec.seeds,
                         spec.level, spec.queries])  # fmt: skip


def models_of(system: System) -> list[Made]:
    """The models that a system's own retriever and re-rankers name."""
    chosen = [system.retriever, *(item.chosen for item in system.rerank)]
    return [made for item in chosen if item is not None for made in references(item.params)]
