"""Strict parameters: a mapping of a suite becomes a frozen dataclass, or a list of what is wrong."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.types import JSON


class Problem(NamedTuple):
    """What is wrong at a place below the value that was given: a path of keys and indexes."""

    path: tuple[str | int, ...]
    text: str


def fields_of(params: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """Name -> (field, resolved type hint), in order of definition."""
    hints = _hints(params)
    return {field.name: (field, hints[field.name]) for field in dataclasses.fields(params)}


@functools.cache
def _hints(params: type) -> dict[str, Any]:
    return typing.get_type_hints(params)


def convert(params: type, given: Mapping[str, JSON], base: Path) -> tuple[Any, list[Problem]]:
    """An instance of `params`, or None with every problem. Relative paths start at `base`."""
    known = fields_of(params)
    problems = [Problem((key,), unknown("parameter", str(key), known)) for key in given if key not in known]
    values: dict[str, Any] = {}
    for name, (field, hint) in known.items():
        if name in given:
            value, found = _value(given[name], hint, base, (name,))
            problems += found or _range(field, value, (name,))
            values[name] = value
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            problems.append(Problem((), f"the parameter '{name}' is missing; {describe(hint)} is expected"))
    if problems:
        return None, problems
    try:
        return params(**values), []
    except ValueError as error:  # a parameter type may check itself in __post_init__
        return None, [Problem((), str(error))]


def plain(value: Any) -> JSON:
    """A parameter value as plain JSON data, for keys, provenance and messages."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def is_list(hint: Any) -> bool:
    """Whether a list is a value of this type, so that a grid must not fan it out."""
    if is_union(hint):
        return any(is_list(item) for item in typing.get_args(hint))
    return typing.get_origin(hint) in (tuple, list, Sequence)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`unknown parameter 'k'; did you mean 'k1'?` or the list of what there is."""
    names = sorted(known)
    close = nearest(name, names)
    if close is not None:
        return f"unknown {what} '{name}'; did you mean '{close}'?"
    return f"unknown {what} '{name}'; " + (f"choose from: {', '.join(names)}" if names else "there is none")


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The one of these names that was meant, it seems: a near one, whatever is upper and lower case."""
    folded = {other.casefold(): other for other in reversed(names)}
    for asked, there in ((name, {other: other for other in names}), (name.casefold(), folded)):
        close = difflib.get_close_matches(asked, there, n=1, cutoff=0.6)
        if close:
            return there[close[0]]
    return None


def describe(hint: Any) -> str:
    """A type in a user's words."""
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path"}
    if hint in words:
        return words[hint]
    if hint is None or hint is type(None):
        return "null"
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(repr(arg) for arg in args)
    if is_union(hint):
        return " or ".join(describe(arg) for arg in args)
    if origin in (tuple, list, Sequence):
        return f"a list, each item {describe(args[0])}" if args else "a list"
    return "a mapping"


def shown(value: JSON) -> str:
    """A value as a message quotes it, cut short."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = repr(value) if not isinstance(value, Mapping) else "a mapping"
    text = "a list" if isinstance(value, list) else text
    return text if len(text) <= 60 else text[:57] + "..."


def _value(given: JSON, hint: Any, base: Path, path: tuple[str | int, ...]) -> tuple[Any, list[Problem]]:
    wrong = [Problem(path, f"expected {describe(hint)}, got {shown(given)}")]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if is_union(hint):
        if isinstance(given, str) and {str, Path} <= set(args) and not given.startswith((".", "/", "~")):
            return given, []  # `Path | str`: a path says so by how it begins, anything else is a name
        return _first(given, args, base, path, wrong)
    if origin is typing.Literal:
        same = [arg for arg in args if arg == given and type(arg) is type(given)]
        return (same[0], []) if same else (None, wrong)
    if origin in (tuple, list, Sequence):
        return _items(given, args, base, path, wrong)
    if origin in (dict, Mapping):
        if not isinstance(given, dict):
            return None, wrong
        pairs = {key: _value(item, args[1], base, (*path, key)) for key, item in given.items()}
        problems = [problem for _, found in pairs.values() for problem in found]
        return {key: value for key, (value, _) in pairs.items()}, problems
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        if not isinstance(given, dict):
            return None, wrong
        value, found = convert(hint, given, base)
        return value, [Problem((*path, *problem.path), problem.text) for problem in found]
    return _scalar(given, hint, base, wrong)


def _first(
    given: JSON, args: tuple[Any, ...], base: Path, path: tuple[str | int, ...], wrong: list[Problem]
) -> tuple[Any, list[Problem]]:
    deeper: list[Problem] = []
    for arg in args:
        value, found = _value(given, arg, base, path)
        if not found:
            return value, []
        if isinstance(arg, type) and dataclasses.is_dataclass(arg) and isinstance(given, dict):
            deeper = found  # a mapping is meant for it, so what it says of itself helps more than the types
        else:
            deeper = [problem for problem in found if problem.path != path] or deeper
    return None, deeper or wrong


def _items(
    given: JSON, args: tuple[Any, ...], base: Path, path: tuple[str | int, ...], wrong: list[Problem]
) -> tuple[Any, list[Problem]]:
    if not isinstance(given, list):
        return None, wrong
    variadic = len(args) < 2 or args[1] is Ellipsis
    if not variadic and len(args) != len(given):
        return None, wrong
    hints = [args[0] if args else Any] * len(given) if variadic else list(args)
    numbered = enumerate(zip(given, hints, strict=True))
    pairs = [_value(item, hint, base, (*path, i)) for i, (item, hint) in numbered]
    return tuple(value for value, _ in pairs), [problem for _, found in pairs for problem in found]


def _scalar(given: JSON, hint: Any, base: Path, wrong: list[Problem]) -> tuple[Any, list[Problem]]:
    if hint is Any:
        return given, []
    if hint is Path and isinstance(given, str) and given:
        return base / Path(given).expanduser(), []
    if hint is float and type(given) in (int, float):
        return float(given), []
    if hint is type(None) and given is None:
        return None, []
    if isinstance(hint, type) and type(given) is hint:  # a bool is no whole number here
        return given, []
    return None, wrong


def _range(field: dataclasses.Field[Any], value: Any, path: tuple[str | int, ...]) -> list[Problem]:
    if type(value) not in (int, float):
        return []
    if value != value or value in (float("inf"), float("-inf")):
        return [Problem(path, f"expected a finite number, got {value}")]
    low, high = field.metadata.get("minimum"), field.metadata.get("maximum")
    if low is not None and value < low:
        return [Problem(path, f"expected at least {low}, got {value}")]
    if high is not None and value > high:
        return [Problem(path, f"expected at most {high}, got {value}")]
    return []


def is_union(hint: Any) -> bool:
    """Whether a type is `A | B`."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)
