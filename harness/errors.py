"""Errors that are told to people: who made the mistake decides the class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from harness.problems import Keys, Place, Problem

T = TypeVar("T")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class HarnessError(Exception):
    """A user's mistake: `where: what; what to do`, lowercase. The CLI prints it and exits with 2."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (Problem(None, (), str(self)),)

    def below(self, place: Place | None, path: Keys) -> list[Problem]:
        """The same problems as seen from outside: where they name no place or path, these are theirs."""
        return [
            problem._replace(place=problem.place or place, path=problem.path or path)
            for problem in self.problems
        ]


class Problems(HarnessError):
    """Several mistakes at once, one line each, so that a user mends them in one go."""

    def __init__(self, problems: Iterable[Problem | str]) -> None:
        unique = dict.fromkeys(
            problem if isinstance(problem, Problem) else Problem(None, (), problem) for problem in problems
        )
        self._problems = tuple(unique)
        super().__init__("\n".join(map(str, self._problems)))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._problems


class NoLanguage(HarnessError):
    """A method goes by the dataset's language, and the dataset names none: told once a dataset."""


class StoreError(HarnessError):
    """The store cannot go on (no space, no permission); finished work is kept."""


class Terminated(BaseException):
    """The system, or a scheduler, ends this process: like Ctrl-C, but for the exit code."""


def printable(text: str) -> str:
    """A message for a terminal: what data put into it cannot move the cursor or change colours."""
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


class ContractError(Exception):
    """A plugin broke its contract: the systems that use it fail, with this reason in the leaderboard."""


def check_is(value: object, expected: type, what: str) -> None:
    """Raises ContractError if a plugin gave something of another type; `what` is in the plural."""
    if not isinstance(value, expected):
        got = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise ContractError(f"{what} must be {expected.__module__}.{expected.__qualname__}, not {got}")


def check_several(value: object, what: str) -> None:
    """Raises ContractError unless a plugin gave a list or a tuple."""
    if not isinstance(value, list | tuple):
        raise ContractError(f"{what} must be a list or a tuple, not {type(value).__name__}")


def each(values: Iterable[T], expected: type[T], what: str) -> Iterator[T]:
    """The values one by one. Raises ContractError if a plugin gave something that holds no values, or one of
    another type; `what` is in the plural."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ContractError(f"{what} must be iterable, not {type(values).__name__}")
    for value in values:
        check_is(value, expected, what)
        yield value


@contextmanager
def converting(what: str) -> Iterator[None]:
    """Around work on what a plugin gave, and never around a call of the plugin: an error of types or values
    in it is a broken contract. `what` says what was given."""
    try:
        yield
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ContractError(f"{what} cannot be read ({type(error).__name__}: {error})") from error
