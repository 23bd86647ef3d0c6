"""The frozen records that hooks yield: each names a method, its parameters and needs, and builds it."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from harness import contracts
from harness.problems import Need
from harness.types import ColumnUnit, Facts, Form, Part, TrainingSize, Unit

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")

Function = TypeVar("Function", bound=Callable[..., Any])


def param(
    default: Any = dataclasses.MISSING,
    help: str = "",
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    keyed: bool = True,
) -> Any:
    """A field of a parameter type, with its help in one line and the range of its values. A parameter that
    can change no number, such as the number of requests at a time, has `keyed=False` and enters no step's
    key."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "keyed": keyed}
    return dataclasses.field(default=default, metadata=metadata)


def named(target: str) -> Any:
    """The object that "package.module:Name" names. Its module is imported."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


class Build(Generic[Function]):
    """The field `build` of a record. It is given as a function or as "package.module:Name", and always read
    as a function. A function made of a text imports the module and calls `Name` with the parameters; without
    parameters, it returns what `Name` names."""

    def __get__(self, record: object, kind: type) -> Function:
        if record is None:
            raise AttributeError("build")  # so that the dataclass has no default for this field
        function: Function = vars(record)["build"]
        return function

    def __set__(self, record: object, value: Function | str) -> None:
        if isinstance(value, str) and not _TARGET.fullmatch(value):
            raise ValueError(f"build: expected a function or 'package.module:Name', got {value!r}")
        vars(record)["build"] = functools.partial(_built, value) if isinstance(value, str) else value


def _built(target: str, *params: Any) -> Any:
    return named(target)(*params) if params else named(target)


def building(package: str) -> Callable[[str, str], str]:
    """Deprecated: a function that gives the `build` of a record from a module of the package and a name in
    it."""
    text = f'records.building is deprecated and will go in 0.3; write build="{package}.MODULE:NAME"'
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return lambda module, name: f"{package}.{module}:{name}"


@dataclass(frozen=True)
class NoParams:
    """The parameters of a method that has no parameters."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """The fields that the records of all kinds of methods have. Making a record imports nothing heavy."""

    name: str
    summary: str  # one line
    paper: str | None = None  # the address of the paper that describes the method
    # builds the method from its parameters: a function, or "package.module:Name", imported when it is called
    build: Build[Callable[[Any], Any]] = Build()
    params: type = NoParams  # a frozen dataclass; a `Path` in it is keyed by the contents at the path
    version: str = "1"  # raised when the method's numbers change
    needs: tuple[str, ...] = ()  # modules that must be importable
    extra: str | None = None  # the extra of its distribution that installs these modules
    libraries: tuple[str, ...] = ()  # distributions whose version can change a number
    # parameters -> further such distributions that a parameter's value brings in, by the parameter's name
    libraries_by_param: Callable[[Any], Mapping[str, Sequence[str]]] | None = None
    resolve: Callable[[Any, Facts], Any] | None = None  # replaces `auto` in parameters while planning
    # parameters -> the missing files, such as a model's weights; asked while planning, required only by a run
    missing_files: Callable[[Any], Sequence[str | Need]] | None = None
    # parameters -> lines on the files that a run will read, for people; asked when a plan is shown or run
    notes: Callable[[Any], Sequence[str]] | None = None
    # "all": the method keeps all cores busy by itself; "one": several workers of a machine share its steps
    cores: Literal["one", "all"] = "one"
    # parameters -> the records that the method builds on, as (kind, name); these enter the key too
    depends_on: Callable[[Any], Sequence[tuple[str, str]]] | None = None
    # parameters -> why results cannot be found again by a key, or None if they can; rows show it as a flag
    unkeyed: Callable[[Any], str | None] | None = None


class Meant(NamedTuple):
    """What a record takes a word of `harness eval` for."""

    params: Mapping[str, Any]  # the parameters, as a suite has them; a `Path` becomes relative to the suite
    sure: bool = True  # False: only if no other record is sure of the word


# A word and the language that is asked for -> what the word means to a record, or None. Raises HarnessError
# for a word that is probably meant for the record and has a mistake.
FromWord: TypeAlias = Callable[[str, str | None], Meant | None]


@dataclass(frozen=True, kw_only=True)
class Dataset(Record):
    build: Build[Callable[[Any], contracts.Source]] = Build()
    from_word: FromWord | None = None  # the words of `harness eval` that it knows beside its name


@dataclass(frozen=True, kw_only=True)
class Context(Record):
    build: Build[Callable[[Any], contracts.Augmenter]] = Build()


class IndexBytes(NamedTuple):
    """What an index takes on disk."""

    text: float  # bytes for each text
    token: float = 0.0  # bytes for each token, special ones counted
    most: int | None = None  # tokens that are read of a text, special ones counted


IndexBytesOf: TypeAlias = Callable[[Any], IndexBytes | None]
"""Resolved parameters -> what the index takes on disk; None if that is not known. Asked while planning."""


@dataclass(frozen=True, kw_only=True)
class Retriever(Record):
    build: Build[Callable[[Any], contracts.Indexer]] = Build()
    search_only: tuple[str, ...] = ()  # parameters that do not change the index
    units: tuple[Unit, ...] = ("passage", "document")
    queries: tuple[Form, ...] = ("text",)  # the forms of a query that the retriever takes
    from_word: FromWord | None = None  # the words of `harness eval` that it knows beside its name
    precomputed: bool = False  # whether it reads hits or vectors of queries that were made before: no latency
    first: bool = False  # whether `harness eval` gives a re-ranker the hits of this retriever
    index_bytes: IndexBytesOf | None = None  # for the dry run
    # resolved parameters -> those of the fuller index that this index is made from, or None if it is made of
    # the texts. All forms of one encoding share that index; the retriever is a `contracts.Deriving`.
    derived_from: Callable[[Any], Any] | None = None
    # the file of a suite's `negatives: {file: ...}` -> the parameters with which this retriever reads it
    of_file: Callable[[Path], Mapping[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Rewriter(Record):
    """A rewriter, which changes queries before a retriever searches for them."""

    build: Build[Callable[[Any], contracts.Rewriter]] = Build()
    gives: Form = "text"  # the form of the rewritten queries, which the retriever must take
    feedback: Callable[[Any], int] = lambda params: 0  # parameters -> number of hits needed per query
    indexed: bool = False  # whether it has an index of its own, whose step is shared like any other step
    search_only: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reranker(Record):
    build: Build[Callable[[Any], contracts.Judge]] = Build()
    indexed: bool = False  # whether it has an index of its own, whose step is shared like any other step
    search_only: tuple[str, ...] = ()
    together: bool = False  # whether a candidate's score depends on the query's other candidates
    index_bytes: IndexBytesOf | None = None  # for the dry run


@dataclass(frozen=True, kw_only=True)
class Combiner(Record):
    build: Build[Callable[[Any], contracts.Fuser | contracts.DeepFuser | contracts.LearningFuser]] = Build()
    inputs: tuple[int, int | None] = (2, None)  # the least and the largest number of systems that it takes
    within: tuple[int, ...] = ()  # the numbers of the inputs that it has score further positions
    learns: tuple[str, ...] = ()  # parameters for which it learns a value for each query, of two inputs


@dataclass(frozen=True, kw_only=True)
class Trainer(Record):
    """A trainer, which makes models. `parts` gives the names of the models that one training makes, each in a
    folder. `backbone` names a parameter that names a model, if a made model cannot be loaded without it.
    `steps` gives the number of steps of a training; the dry run shows it."""

    build: Build[Callable[[Any], contracts.Trainer]] = Build()
    parts: Callable[[Any], tuple[str, ...]] = lambda params: ("model",)
    backbone: str | None = None
    steps: Callable[[Any, TrainingSize], int] | None = None


@dataclass(frozen=True, kw_only=True)
class Maker(Record):
    """A maker, which is one stage of making a collection. A part of the collection that the maker neither
    reads nor changes does not enter its key."""

    build: Build[Callable[[Any], contracts.Maker]] = Build()
    changes: tuple[Part, ...]
    reads: tuple[Part, ...] = ("corpus", "queries", "judgements")
    systems: tuple[str, ...] = ()  # parameters that name systems of the suite; `make` is given their runs
    splits: tuple[str, ...] = ()  # parameters that name datasets or DATASET/SPLIT; `make` is given these
    encoder: str | None = None  # the parameter that holds `{RETRIEVER: {parameters}}`, or null
    scorer: str | None = None  # the parameter that holds `{RERANKER: {parameters}}`, or null


@dataclass(frozen=True, kw_only=True)
class Analyser(Record):
    """An analyser, which turns texts into index terms. `build(NoParams())` returns a function from a text to
    its list of terms."""

    build: Build[Callable[[Any], Callable[[str], Sequence[str]]]] = Build()
    languages: tuple[str, ...] = ()  # the languages (ISO 639-1 codes) for which it is the default


@dataclass(frozen=True, kw_only=True)
class Analysis(Record):
    """An analysis, which makes tables and pictures of the hits of systems on a dataset."""

    build: Build[Callable[[Any], contracts.Analyst]] = Build()
    datasets: tuple[
        str, ...
    ] = ()  # parameters that name datasets of the suite, whose judgements the analysis reads too
    splits: tuple[str, ...] = ()  # parameters that name datasets, or DATASET/SPLIT, whose queries are read
    encoder: str | None = None  # the parameter that holds `{RETRIEVER: {parameters}}`, or null


class Column(NamedTuple):
    """A column of a leaderboard: a measure of one unit."""

    measure: str  # an expression of ir-measures, or of a plugin's measure
    unit: ColumnUnit = "passage"  # document, first: every document is ranked by its best or its first passage
    says: str = ""  # the measure in words, with its equation

    @property
    def label(self) -> str:
        return {"passage": "", "document": "document ", "first": "FirstP "}[self.unit] + self.measure


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The scoring of a paper or benchmark: its columns, and the depth at which it cuts runs."""

    name: str
    summary: str
    columns: tuple[Column, ...]
    depth: int
    cite: str = ""
    # "answers": a passage is relevant if it contains an answer of the query (`harness.scoring.answers`)
    judgements: Literal["given", "answers"] = "given"
    notes: tuple[str, ...] = ()  # which judgements it reads, and how the official script or paper differs
    version: str = "1"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that ir-measures lacks. A suite names it as `NAME(rel=1)@10`. `build()` returns a kernel, a
    function of (grades, ideal, rel, cutoff) as described in `harness.scoring.measures`. A `build` of the form
    "package.module:name" names the kernel itself."""

    name: str
    summary: str
    build: Build[Callable[[], Callable[..., Any]]] = Build()
    ratio: bool = False  # True: its mean is the ratio of sums (micro), not the mean of ratios
    version: str = "1"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of `harness`. Its functions are named as "module:function", so that listing the command
    imports nothing."""

    name: str
    summary: str  # one line, without a full stop
    arguments: str  # (argparse.ArgumentParser) -> None; adds the arguments
    work: str  # (argparse.Namespace) -> int; does the work, and returns the exit code
    needs: tuple[str, ...] = ()  # modules that must be importable, whatever the arguments are
    extra: str | None = None
    marker: str | None = None  # a file by which a folder that the command wrote is known
    verify: str | None = None  # (Path) -> int; what `harness verify` does with such a folder
    formats: tuple[str, ...] = ()  # what `harness show LEADERBOARD --format FORMAT` prints by this command
    forms: tuple[str, ...] = ()  # what `harness export LEADERBOARD --form FORM --out DIR` writes by it
    dataset_forms: tuple[str, ...] = ()  # what `harness datasets export SUITE NAME --form FORM` writes by it

    def __post_init__(self) -> None:
        for named in filter(None, (self.arguments, self.work, self.verify)):
            if not re.fullmatch(r"[\w.]+:\w+", named):
                raise ValueError(f"the command {self.name!r} names {named!r}; write module:function")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ValueError(f"{self.name!r} is no name of a command; write it like new-plugin")
        if (self.marker is None) != (self.verify is None):
            raise ValueError(f"the command {self.name!r} needs both `marker` and `verify`, or neither")
