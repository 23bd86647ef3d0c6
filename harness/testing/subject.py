"""The method under test: how it is found and built, and how a broken promise is told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness import catalogue, params, records
from harness.catalogue import Plugin
from harness.errors import Problems
from harness.types import JSON, Facts, Unit


class Broken(AssertionError):
    """A promise of the contract that a method does not keep, in one sentence."""


class Subject(NamedTuple):
    kind: str  # retriever, ...
    record: Any
    params: Any
    given: Mapping[str, JSON]
    plugin: Plugin | None  # None: the record was handed over, so no other process could find it
    tolerance: float  # between scores that should be equal, relative to the larger one and to 1


def find(kind: str, method: str | records.Record, given: Mapping[str, JSON], tolerance: float) -> Subject:
    """The method of that name among the installed ones, or the record itself, with its parameters."""
    if isinstance(method, str):
        record, plugin = catalogue.load().find(f"{kind}s", method)
    else:
        record, plugin = method, None
    value, problems = params.convert(record.params, given, Path())
    if problems:
        raise Problems(problem._replace(path=(record.name, *problem.path)) for problem in problems)
    return Subject(kind, record, value, given, plugin, tolerance)


def build(subject: Subject, language: str | None = "en", unit: Unit = "passage") -> Any:
    """The method itself, its `auto` parameters resolved as a plan would."""
    return subject.record.build(resolved(subject, language, unit))


def resolved(subject: Subject, language: str | None = "en", unit: Unit = "passage") -> Any:
    if subject.record.resolve is None:
        return subject.params
    return subject.record.resolve(subject.params, Facts(language, language, unit))


def require(holds: object, sentence: str) -> None:
    if not holds:
        raise Broken(sentence)


@contextlib.contextmanager
def able(what: str) -> Iterator[None]:
    """Tells an exception of the method as the promise that it broke: `it cannot <what>`."""
    try:
        yield
    except Broken:
        raise
    except Exception as problem:
        raise Broken(f"it cannot {what}: {type(problem).__name__}: {problem}") from problem
