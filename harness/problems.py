"""Problems and needs as typed values, and the functions that make their texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

Keys: TypeAlias = tuple[str | int, ...]  # a path of keys and indexes: ("systems", "bm25", "rerank", 0)


class Place(NamedTuple):
    """A line of a file."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}"


class Problem(NamedTuple):
    """One mistake of a user."""

    place: Place | None
    path: Keys  # the keys of the suite above the mistake
    text: str  # `what is wrong; what to do`

    def __str__(self) -> str:
        parts = (str(self.place) if self.place else "", dotted(self.path), self.text)
        return ": ".join(part for part in parts if part)


class Named(NamedTuple):
    """A name that a suite refers to, and where it stands."""

    place: Place
    path: Keys
    name: str


class Need(NamedTuple):
    """A thing that a run requires and that is missing here."""

    kind: Literal["modules", "path", "other"]
    text: str = ""  # a path as shown, or a plugin's words; for modules: when the method needs them
    method: str = ""
    modules: tuple[str, ...] = ()
    command: str = ""  # the command that installs the modules

    def __str__(self) -> str:
        if self.kind == "path":
            return f"{self.text} (not there)"
        if self.kind == "other":
            return self.text
        method = " ".join(filter(None, (f"'{self.method}'", self.text)))
        return f"{method} needs {', '.join(self.modules)}; install it with: {self.command}"


def by_place(problem: Problem) -> tuple[str, int, str]:
    """The key by which problems are sorted as their file is read."""
    file, line = ("", 0) if problem.place is None else (str(problem.place.file), problem.place.line)
    return file, line, str(problem)


def dotted(path: Keys) -> str:
    """A path of keys as messages show it, such as `systems.bm25.rerank[0]`."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the current folder if it lies there, else unchanged."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def exists(path: Path) -> bool:
    """Whether a path exists. False where `Path.exists` raises OSError, as it cannot be looked up."""
    return os.path.exists(path)  # noqa: PTH110


def missing_path(path: Path) -> Need:
    return Need("path", shown_path(path))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message for an unknown name, such as `unknown parameter 'k'; did you mean 'k1'?`. If no known name
    is similar, the message lists the known names."""
    names = sorted(known)
    close = nearest(name, names)
    if close is not None:
        return f"unknown {what} '{name}'; did you mean '{close}'?"
    return f"unknown {what} '{name}'; " + (f"choose from: {', '.join(names)}" if names else "there is none")


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The known name that was probably meant, or None. Names are compared with their case first, and then, if
    none is similar, without it."""
    import difflib  # imported here, because only messages about mistakes need it

    folded = {other.casefold(): other for other in reversed(names)}
    for wanted, known in ((name, {other: other for other in names}), (name.casefold(), folded)):
        close = difflib.get_close_matches(wanted, known, n=1, cutoff=0.6)
        if close:
            return known[close[0]]
    return None
