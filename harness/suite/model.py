"""The dataclasses of a checked suite: plain data, ready to be planned."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from harness.catalogue import Entry
from harness.errors import Problems
from harness.problems import Named, Place, Problem
from harness.steps.record import Found
from harness.suite.changes import Changes
from harness.types import JSON, Unit

if TYPE_CHECKING:
    from harness.suite.models import ModelSpec


class Tuning(NamedTuple):
    """One number of a combiner whose value is tuned. The combiner combines again for each value."""

    parameter: str
    measure: str
    values: tuple[float, ...]  # ascending
    on: tuple[str, str] | None  # the dataset and split to tune on; None: `folds` is given
    folds: int | None  # the number of folds of the scored queries to tune across; None: `on` is given
    place: Place
    learned: bool = False  # whether each query gets a value of its own

    @property
    def word(self) -> str:
        return "learned" if self.learned else "tune"


class Search(NamedTuple):
    """Parameters of one method whose values are tuned together. The system runs again for each point."""

    parameters: tuple[str, ...]
    points: tuple[tuple[JSON, ...], ...]  # one value per parameter; the first of equally good points is taken
    measure: str
    on: tuple[str, str] | None  # the dataset and split to tune on; None: `folds` is given
    folds: int | None  # the number of folds of the scored queries to tune across; None: `on` is given
    place: Place


class Chosen(NamedTuple):
    """A plugin that a suite names, with its parameters as written and as checked."""

    entry: Entry
    as_written: dict[str, JSON]  # as written, for provenance: relative paths stay relative
    params: Any  # an instance of the record's parameter type
    place: Place | None  # None: the plugin is not named in a suite's file
    tuned: Tuning | None = None  # if given, `params` holds the first of its values
    searched: Search | None = None  # if given, `params` holds its first point
    found: tuple[tuple[str, Found], ...] = ()  # in a planned system: the parameters that a step finds
    resources: tuple[tuple[str, float], ...] = ()  # what the plugin's steps ask a cluster for

    @property
    def name(self) -> str:
        return str(self.entry.record.name)


class Rewrite(NamedTuple):
    chosen: Chosen
    of: str | None  # the system whose hits the rewriter reads; None: its own system's, for the queries so far


class Rerank(NamedTuple):
    chosen: Chosen
    depth: int | None  # how many hits are re-ranked; None: all of the run
    tail: Literal["keep", "drop"]


class Stage(NamedTuple):
    """One stage of a made dataset."""

    chosen: Chosen  # a maker
    splits: tuple[str, ...] = ()  # the splits that have this stage; empty: all splits


class DatasetSpec(NamedTuple):
    """A dataset of a suite. For a made dataset, `chosen` is the plugin of the dataset at the bottom of its
    chain of `of`, and `make` holds all stages from there on."""

    name: str
    chosen: Chosen
    unknown_judgements: Literal["keep", "drop", "refuse"]
    scored: bool = True  # False: systems are only tuned or trained on the dataset
    make: tuple[Stage, ...] = ()
    of: str = ""  # the dataset that this one is made of, as written
    limit: int | None = None  # how many queries a trial reads
    sample: int | None = None  # how many passages a trial reads, beside all documents with a judged passage

    @property
    def limits(self) -> dict[str, int]:
        """How many queries and passages of the dataset a trial reads; empty if the whole dataset is read."""
        named = {"queries": self.limit, "passages": self.sample}
        return {name: number for name, number in named.items() if number is not None}


class System(NamedTuple):
    name: str
    base: str  # the name in the suite's file, before a grid fanned the system out
    varied: tuple[tuple[str, JSON], ...]  # the parameters that the grid varied, with this system's values
    context: tuple[Chosen, ...] | None  # None: the suite names no context for the system
    retriever: Chosen | None
    unit: Unit
    of: tuple[str, ...]
    combine: Chosen | None
    rerank: tuple[Rerank, ...]
    place: Place
    queries: tuple[Rewrite, ...] = ()
    scored: bool = True  # False: it gets no rows; other systems, models or made datasets read its results

    @property
    def methods(self) -> tuple[Chosen, ...]:
        """The methods that the system names, in running order. Those that could not be read are left out."""
        first = [*(self.context or ()), *(item.chosen for item in self.queries), self.retriever, self.combine]
        every = [*first, *(item.chosen for item in self.rerank)]
        return tuple(chosen for chosen in every if chosen is not None)

    @property
    def below(self) -> tuple[str, ...]:
        """The systems that this one builds on."""
        return (*self.of, *(item.of for item in self.queries if item.of is not None))


class Beside(NamedTuple):
    """A published leaderboard whose rows may stand beside this suite's rows although its split differs."""

    published: str  # the name of the published leaderboard
    split: str  # the split of this suite's datasets, `as` in the file


@dataclass(frozen=True)
class Suite:
    name: str
    description: str
    path: Path
    datasets: tuple[DatasetSpec, ...]
    systems: tuple[System, ...]  # in the order written; grids fanned out
    measures: tuple[str, ...]
    analyses: tuple[Chosen, ...]
    protocol: str | None
    depth: int
    seed: int
    timeout: float | None
    memory: float | None  # gigabytes
    scoring_place: Place | None  # the place of `measures` or `protocol`
    digest: str  # SHA-256 of what the suite asks for; comments and layout do not change it
    models: tuple[ModelSpec, ...] = ()  # the models that the suite makes
    averages: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name -> datasets
    together: dict[str, tuple[str, ...]] = field(default_factory=dict)  # analysis -> datasets in one picture
    beside: tuple[Beside, ...] = ()
    changes: Changes = Changes()  # noqa: RUF009 - immutable. The changes applied when the file was read
    compared_by: tuple[Named, ...] = ()  # the measures by which values are tuned or checkpoints chosen

    def system(self, name: str) -> System:
        return self._systems[name]

    @functools.cached_property
    def _systems(self) -> dict[str, System]:
        return {system.name: system for system in self.systems}


class Unsound(Problems):
    """The problems of a suite, and `rest`: the suite without its wrong parts. Planning it may find more."""

    def __init__(self, problems: Iterable[Problem], rest: Suite | None) -> None:
        super().__init__(problems)
        self.rest = rest


def digest(name: str, datasets: tuple[DatasetSpec, ...], systems: tuple[System, ...], scoring: JSON) -> str:
    """The SHA-256 of what a suite asks for. Comments, layout and folders do not change the digest."""
    content = [
        name,
        [_plain_dataset(spec) for spec in datasets],
        [_plain_system(item) for item in systems],
        scoring,
    ]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _plain_dataset(spec: DatasetSpec) -> JSON:
    plain: list[JSON] = [spec.name, spec.chosen.name, spec.chosen.as_written, spec.unknown_judgements]
    if spec.of:
        stages = [[stage.chosen.name, stage.chosen.as_written, list(stage.splits)] for stage in spec.make]
        plain = [*plain, spec.of, stages]
    plain += [] if spec.scored else ["not scored"]
    return [*plain, spec.limits] if spec.limits else plain


def _plain_system(system: System) -> JSON:
    def choice(chosen: Chosen | None) -> JSON:
        return None if chosen is None else [chosen.name, chosen.as_written]

    context = None if system.context is None else [choice(stage) for stage in system.context]
    reranks = [[choice(item.chosen), item.depth, item.tail] for item in system.rerank]
    plain = [choice(system.retriever), context, system.unit, list(system.of), choice(system.combine), reranks]
    rewrites = [[choice(item.chosen), item.of] for item in system.queries]
    plain += [{"queries": rewrites}] if rewrites else []
    return [system.name, *plain] if system.scored else [system.name, *plain, "not scored"]
