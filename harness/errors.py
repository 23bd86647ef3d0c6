"""The errors that are reported to people. Their class says who made the mistake: the user or a plugin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NoReturn, TypeVar

from harness.problems import Keys, Place, Problem

T = TypeVar("T")
SHOWN = 10  # faults of one file that a message names
# Control characters, and characters that cannot be seen or change the direction of a text. The joiners 200c
# and 200d belong to the spelling of some scripts, and stand only between other than ASCII characters there.
CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


class HarnessError(Exception):
    """A user's mistake. Its text has the form `where: what; what to do`, in lowercase. The CLI prints it and
    exits with 2."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (Problem(None, (), str(self)),)

    def below(self, place: Place | None, path: Keys) -> list[Problem]:
        """The error's problems. Those without a place get `place`, those without a path `path`."""
        return [
            problem._replace(place=problem.place or place, path=problem.path or path)
            for problem in self.problems
        ]


class Problems(HarnessError):
    """Several mistakes of a user, one line each, so that the user can correct all at once."""

    def __init__(self, problems: Iterable[Problem | str]) -> None:
        unique = dict.fromkeys(
            problem if isinstance(problem, Problem) else Problem(None, (), problem) for problem in problems
        )
        self._problems = tuple(unique)
        super().__init__("\n".join(map(str, self._problems)))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._problems


class Fault(HarnessError):
    """A line of a user's file, or a row of a Parquet file, that cannot be read."""

    def __init__(self, file: Path, line: int, what: str) -> None:
        super().__init__(f"{file}:{line}: {what}")
        self.file, self.line = file, line
        self.last = line  # the last line of what cannot be read: a row of a CSV file may have several


def refuse_all(texts: Iterable[str], count: int, of: str = "such faults") -> NoReturn:
    """Raises Problems for the first `SHOWN` of `count` faults, which `texts` yields one by one."""
    shown = list(islice(texts, SHOWN))
    more = [f"and {count - len(shown):,} more {of}"] if count > len(shown) else []
    raise Problems([*shown, *more])


class NoLanguage(HarnessError):
    """A method depends on the dataset's language, and the dataset names none. Reported once per dataset."""


class StoreError(HarnessError):
    """The store cannot be written (no space, no permission). Finished work is kept."""


class Terminated(BaseException):
    """The operating system or a scheduler ends this process. As Ctrl-C, except for the exit code."""


def printable(text: str) -> str:
    """The text with control characters and invisible ones escaped, so that data in a message cannot move a
    terminal's cursor, change its colours, or look like another text."""
    return CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


class ContractError(Exception):
    """A plugin broke its contract. Its systems fail, with this reason in the leaderboard."""


def check_is(value: object, expected: type, what: str) -> None:
    """Raises ContractError if a plugin's `value` is not of the expected type. `what` is its plural."""
    if not isinstance(value, expected):
        got = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise ContractError(f"{what} must be {expected.__module__}.{expected.__qualname__}, not {got}")


def check_several(value: object, what: str) -> None:
    """Raises ContractError unless a plugin's `value` is a list or a tuple."""
    if not isinstance(value, list | tuple):
        raise ContractError(f"{what} must be a list or a tuple, not {type(value).__name__}")


def each(values: Iterable[T], expected: type[T], what: str) -> Iterator[T]:
    """The values that a plugin gave, one by one. Raises ContractError if `values` is not iterable, or a value
    is not of the expected type. `what` names the values in the plural."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ContractError(f"{what} must be iterable, not {type(values).__name__}")
    for value in values:
        check_is(value, expected, what)
        yield value


@contextmanager
def converting(what: str) -> Iterator[None]:
    """Turns errors of types or values in the body into ContractError. The body works on data that a plugin
    gave, and must not call the plugin. `what` names the data."""
    try:
        yield
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ContractError(f"{what} cannot be read ({type(error).__name__}: {error})") from error
