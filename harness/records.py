"""The frozen records that hooks yield: what a method is called, takes, needs and how to build it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from harness import contracts
from harness.problems import Need
from harness.types import ColumnUnit, Facts, Form, Part, Unit


def param(
    default: Any = dataclasses.MISSING,
    help: str = "",
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    keyed: bool = True,
) -> Any:
    """A field of a parameter type with its one-line help and the range it must lie in. One that can change
    no number, such as how many requests go out at a time, is not `keyed`: it is in no step's key."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "keyed": keyed}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class NoParams:
    """The parameters of a method that takes none."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What every kind of method says of itself. Building one imports nothing heavy."""

    name: str
    summary: str  # one line
    build: Callable[[Any], Any]  # parameters -> the method; does the importing
    params: type = NoParams  # a frozen dataclass; a `Path` in it is keyed by the contents it names
    version: str = "1"  # raised when the method's numbers change
    needs: tuple[str, ...] = ()  # modules that must be importable
    extra: str | None = None  # the extra of its distribution that brings them
    libraries: tuple[str, ...] = ()  # distributions whose version can change a number
    # parameters -> the further ones that a parameter's value brings into play, by the parameter's name
    libraries_by_param: Callable[[Any], Mapping[str, Sequence[str]]] | None = None
    resolve: Callable[[Any, Facts], Any] | None = None  # replaces `auto` while planning
    # what is not here, such as a model's weights: asked while planning, required only by a run
    missing_files: Callable[[Any], Sequence[str | Need]] | None = None
    # whether the method keeps all cores busy by itself: else workers share its steps on one machine
    cores: Literal["one", "all"] = "one"
    # other records that these parameters build on, as (kind, name): they enter the key too
    depends_on: Callable[[Any], Sequence[tuple[str, str]]] | None = None
    # why the results of these parameters cannot be found again by a key, if so: rows then carry it as a flag
    unkeyed: Callable[[Any], str | None] | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset(Record):
    build: Callable[[Any], contracts.Source]


@dataclass(frozen=True, kw_only=True)
class Context(Record):
    build: Callable[[Any], contracts.Augmenter]


@dataclass(frozen=True, kw_only=True)
class Retriever(Record):
    build: Callable[[Any], contracts.Indexer]
    search_only: tuple[str, ...] = ()  # parameters that leave the index as it is
    units: tuple[Unit, ...] = ("passage", "document")
    queries: tuple[Form, ...] = ("text",)  # the forms of a query that it takes


@dataclass(frozen=True, kw_only=True)
class Rewriter(Record):
    """Rewrites queries before a retriever searches for them."""

    build: Callable[[Any], contracts.Rewriter]
    gives: Form = "text"  # the form of what it writes, which the retriever must take
    feedback: Callable[[Any], int] = lambda params: 0  # how many hits of a query it needs
    indexed: bool = False  # it has an index of its own, a step shared like any other
    search_only: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reranker(Record):
    build: Callable[[Any], contracts.Judge]
    indexed: bool = False  # it has an index of its own, a step shared like any other
    search_only: tuple[str, ...] = ()
    together: bool = False  # it orders the candidates of a query together: a score depends on the others


@dataclass(frozen=True, kw_only=True)
class Combiner(Record):
    build: Callable[[Any], contracts.Fuser | contracts.DeepFuser]
    inputs: tuple[int, int | None] = (2, None)  # how many systems it takes: at least, at most
    within: tuple[int, ...] = ()  # the inputs, by number, that it has score further positions


@dataclass(frozen=True, kw_only=True)
class Trainer(Record):
    """Makes a model in a suite. `parts` names the models that one training makes, each a folder."""

    build: Callable[[Any], contracts.Trainer]
    parts: Callable[[Any], tuple[str, ...]] = lambda params: ("model",)


@dataclass(frozen=True, kw_only=True)
class Maker(Record):
    """A stage of making a collection. A part that it neither reads nor changes is not in its key."""

    build: Callable[[Any], contracts.Maker]
    changes: tuple[Part, ...]
    reads: tuple[Part, ...] = ("corpus", "queries", "judgements")
    systems: tuple[str, ...] = ()  # parameters that name systems of the suite: their runs are handed over
    splits: tuple[str, ...] = ()  # parameters that name datasets or DATASET/SPLIT: these are handed over too
    encoder: str | None = None  # the parameter that holds `{RETRIEVER: {parameters}}`, or null


@dataclass(frozen=True, kw_only=True)
class Analyser(Record):
    """Turns a text into index terms: `build(NoParams())` returns a function str -> list of str."""

    build: Callable[[Any], Callable[[str], Sequence[str]]]
    languages: tuple[str, ...] = ()  # the ISO 639-1 codes it is the default for


@dataclass(frozen=True, kw_only=True)
class Analysis(Record):
    """Makes tables and pictures of what systems found on a dataset."""

    build: Callable[[Any], contracts.Analyst]
    datasets: tuple[
        str, ...
    ] = ()  # parameters that name datasets of the suite: their judgements are read too


class Column(NamedTuple):
    """One named number of a leaderboard: an ir-measures expression or one of our own."""

    measure: str
    unit: ColumnUnit = "passage"  # document, first: every document by its best or by its first passage
    says: str = ""  # in words, with its equation

    @property
    def label(self) -> str:
        return {"passage": "", "document": "document ", "first": "FirstP "}[self.unit] + self.measure


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A paper's way of scoring: its columns and how deep a run it reads."""

    name: str
    summary: str
    columns: tuple[Column, ...]
    depth: int
    cite: str = ""
    # answers: a passage is relevant if it contains an answer of the query (`harness.scoring.answers`)
    judgements: Literal["given", "answers"] = "given"
    notes: tuple[str, ...] = ()  # which judgements it reads, and how the official script or paper differs
    version: str = "1"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that ir-measures lacks, written `NAME(rel=1)@10` in a suite. `build()` returns a function
    of (grades, ideal, rel, cutoff) as described in `harness.scoring.measures`."""

    name: str
    summary: str
    build: Callable[[], Callable[..., Any]]
    ratio: bool = False  # its mean is the ratio of sums (micro), not the mean of ratios
    version: str = "1"
