"""The method under test: how it is found and built, and how a broken promise is reported."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_type_hints

from harness import catalogue, records
from harness.catalogue import Plugin, params
from harness.errors import Problems
from harness.types import JSON, Facts, Unit

if TYPE_CHECKING:
    from harness.testing.texts import MemoryTexts


class Broken(AssertionError):
    """A promise of the contract that a method does not keep, as one sentence."""


class Subject(NamedTuple):
    kind: str  # `retriever` and so on
    record: Any
    params: Any
    given: Mapping[str, JSON]
    plugin: Plugin | None  # None if the caller passed a record, which no other process could find
    tolerance: float  # between scores that should be equal, times the larger of 1 and either score


Check: TypeAlias = Callable[[Subject, Path], None]


def promises(module: ModuleType) -> tuple[Check, ...]:
    """The promises of a kind of method: its module's public functions (Subject, Path) -> None, in order."""
    return tuple(
        value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and [*get_type_hints(value).values()] == [Subject, Path, type(None)]
    )


def find(
    kind: str, method: str | records.Record | records.Command, given: Mapping[str, JSON], tolerance: float
) -> Subject:
    """The installed method of that name, or the record that was passed, with checked parameters."""
    if isinstance(method, str):
        record, plugin = catalogue.load().find(f"{kind}s", method)
    else:
        record, plugin = method, None
    value, problems = params.convert(getattr(record, "params", records.NoParams), given, Path())
    if problems:
        raise Problems(problem._replace(path=(record.name, *problem.path)) for problem in problems)
    return Subject(kind, record, value, given, plugin, tolerance)


def build(subject: Subject, language: str | None = "en", unit: Unit = "passage") -> Any:
    """The method, built with its `auto` parameters resolved as a plan resolves them."""
    return subject.record.build(resolved(subject, language, unit))


def index_if_indexed(subject: Subject, corpus: MemoryTexts, folder: Path) -> Any:
    """Builds the method, and indexes the corpus if the record says `indexed`."""
    method = build(subject, corpus.language, corpus.unit)
    if subject.record.indexed:
        method.index(corpus, folder)
    return method


def resolved(subject: Subject, language: str | None = "en", unit: Unit = "passage") -> Any:
    if subject.record.resolve is None:
        return subject.params
    return subject.record.resolve(subject.params, Facts(language, language, unit))


def require(holds: object, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


@contextlib.contextmanager
def able(what: str) -> Iterator[None]:
    """Reports an exception of the method as a broken promise: `it cannot <what>`."""
    try:
        yield
    except Broken:
        raise
    except Exception as problem:
        raise Broken(f"it cannot {what}: {type(problem).__name__}: {problem}") from problem
