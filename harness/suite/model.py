"""What a checked suite is: plain data, ready to be planned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from harness.catalogue import Entry
from harness.errors import Problems
from harness.problems import Place, Problem
from harness.suite.changes import Changes
from harness.types import JSON, Unit

if TYPE_CHECKING:
    from harness.suite.across import Beside
    from harness.suite.models import ModelSpec


class Tuning(NamedTuple):
    """A parameter whose value is found, not given."""

    parameter: str
    measure: str
    values: tuple[float, ...]  # ascending
    on: tuple[str, str] | None  # dataset and split
    folds: int | None  # across folds of what is scored
    place: Place


class Search(NamedTuple):
    """Parameters of one method whose values are found together, by trying points."""

    parameters: tuple[str, ...]
    points: tuple[tuple[JSON, ...], ...]  # a value of each parameter; of equally good ones the first is taken
    measure: str
    on: tuple[str, str] | None  # dataset and split
    folds: int | None  # across folds of what is scored
    place: Place


class Chosen(NamedTuple):
    """A plugin that a suite names, with its parameters as written and as checked."""

    entry: Entry
    given: dict[str, JSON]  # as written, for provenance: relative paths stay relative
    params: Any  # an instance of the record's parameter type
    place: Place | None  # None: not of a suite's file
    tuned: Tuning | None = None  # `params` then holds one of its values
    searched: Search | None = None  # `params` then holds its first point
    found: tuple[
        tuple[str, str], ...
    ] = ()  # of a planned system: a parameter, and the step that finds its value
    resources: tuple[tuple[str, float], ...] = ()  # that its steps ask a cluster for

    @property
    def name(self) -> str:
        return str(self.entry.record.name)


class Rewrite(NamedTuple):
    chosen: Chosen
    of: str | None  # the system whose hits it reads; None: the system's own, for the queries so far


class Rerank(NamedTuple):
    chosen: Chosen
    depth: int | None  # None: all of the run
    tail: Literal["keep", "drop"]


class Stage(NamedTuple):
    """One stage of a made dataset."""

    chosen: Chosen  # a maker
    splits: tuple[str, ...] = ()  # it is left out for others; empty: for all


class DatasetSpec(NamedTuple):
    """A dataset of a suite. A made one has the plugin of the dataset that it is made of at last, and the
    stages from there on."""

    name: str
    chosen: Chosen
    unknown_judgements: Literal["keep", "drop", "refuse"]
    scored: bool = True  # else it is only tuned on
    make: tuple[Stage, ...] = ()
    of: str = ""  # the dataset that it is made of, as written
    limit: int | None = None  # queries of a trial
    sample: int | None = None  # passages of a trial, beside all documents with a judged one

    @property
    def limits(self) -> dict[str, int]:
        """What of it a trial reads; empty: all."""
        named = {"queries": self.limit, "passages": self.sample}
        return {name: number for name, number in named.items() if number is not None}


class System(NamedTuple):
    name: str
    base: str  # the name in the suite, before a grid fanned it out
    varied: tuple[tuple[str, JSON], ...]  # what the grid varied
    context: tuple[Chosen, ...] | None  # None: not named
    retriever: Chosen | None
    unit: Unit
    of: tuple[str, ...]
    combine: Chosen | None
    rerank: tuple[Rerank, ...]
    place: Place
    queries: tuple[Rewrite, ...] = ()

    @property
    def methods(self) -> tuple[Chosen, ...]:
        """Every method that it names, in the order in which they work; one that could not be read is not
        among them."""
        first = [*(self.context or ()), *(item.chosen for item in self.queries), self.retriever, self.combine]
        every = [*first, *(item.chosen for item in self.rerank)]
        return tuple(chosen for chosen in every if chosen is not None)

    @property
    def below(self) -> tuple[str, ...]:
        """The systems that this one builds on."""
        return (*self.of, *(item.of for item in self.queries if item.of is not None))


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
    scoring_place: Place | None  # of `measures` or `protocol`
    digest: str  # SHA-256 of what the suite says, comments and layout aside
    models: tuple[ModelSpec, ...] = ()  # that it makes
    averages: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name -> datasets
    together: dict[str, tuple[str, ...]] = field(default_factory=dict)  # analysis -> datasets in one picture
    beside: tuple[Beside, ...] = ()
    changes: Changes = Changes()  # noqa: RUF009 - immutable: how it was changed as it was read

    def system(self, name: str) -> System:
        return next(system for system in self.systems if system.name == name)


class Unsound(Problems):
    """The problems of a suite, and what is sound of it, in which planning may find more."""

    def __init__(self, problems: Iterable[Problem], rest: Suite | None) -> None:
        super().__init__(problems)
        self.rest = rest


def digest(name: str, datasets: tuple[DatasetSpec, ...], systems: tuple[System, ...], scoring: JSON) -> str:
    """SHA-256 of what a suite asks for; comments, layout and folders do not change it."""
    content = [
        name,
        [_plain_dataset(spec) for spec in datasets],
        [_plain_system(item) for item in systems],
        scoring,
    ]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _plain_dataset(spec: DatasetSpec) -> JSON:
    plain: list[JSON] = [spec.name, spec.chosen.name, spec.chosen.given, spec.unknown_judgements]
    if spec.of:
        stages = [[stage.chosen.name, stage.chosen.given, list(stage.splits)] for stage in spec.make]
        plain = [*plain, spec.of, stages]
    plain += [] if spec.scored else ["not scored"]
    return [*plain, spec.limits] if spec.limits else plain


def _plain_system(system: System) -> JSON:
    def choice(chosen: Chosen | None) -> JSON:
        return None if chosen is None else [chosen.name, chosen.given]

    context = None if system.context is None else [choice(stage) for stage in system.context]
    reranks = [[choice(item.chosen), item.depth, item.tail] for item in system.rerank]
    plain = [choice(system.retriever), context, system.unit, list(system.of), choice(system.combine), reranks]
    rewrites = [[choice(item.chosen), item.of] for item in system.queries]
    return [system.name, *plain, *([{"queries": rewrites}] if rewrites else [])]
