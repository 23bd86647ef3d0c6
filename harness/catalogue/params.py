"""Strict parameters: turns a mapping of a suite into a frozen dataclass, or into a list of problems."""

from __future__ import annotations

import dataclasses
import functools
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.problems import Keys, Problem, unknown
from harness.types import JSON


def fields_of(params: type) -> Mapping[str, tuple[dataclasses.Field[Any], Any]]:
    """The fields of a parameter type by name, each with its resolved type hint, in order of definition."""
    return _fields_of(params)


@functools.cache
def _fields_of(params: Any) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(params)
    return {field.name: (field, hints[field.name]) for field in dataclasses.fields(params)}


def convert(params: type, raw: JSON, base: Path) -> tuple[Any, list[Problem]]:
    """An instance of `params` made of `raw`, or None, and all problems. Relative paths start at `base`."""
    if not isinstance(raw, Mapping):
        return None, [Problem(None, (), f"expected a mapping of parameters, got {shown(raw)}")]
    known = fields_of(params)
    problems = [
        Problem(None, (key,), unknown("parameter", str(key), known)) for key in raw if key not in known
    ]
    values: dict[str, Any] = {}
    for name, (field, hint) in known.items():
        if name in raw:
            values[name], wrong = value_of(field, hint, raw[name], base)
            problems += [problem._replace(path=(name, *problem.path)) for problem in wrong]
        elif is_required(field):
            problems.append(
                Problem(None, (), f"the parameter '{name}' is missing; {describe(hint)} is expected")
            )
    if problems:
        return None, problems
    try:
        return params(**values), []
    except ValueError as error:  # a parameter type may check itself in __post_init__
        return None, [Problem(None, (), str(error))]
    except Exception as error:  # the check itself may have a mistake
        what = (
            f"these parameters cannot be checked ({type(error).__name__}: {error}); report it to its author"
        )
        return None, [Problem(None, (), what)]


def value_of(field: dataclasses.Field[Any], hint: Any, raw: JSON, base: Path) -> tuple[Any, list[Problem]]:
    """The value of one field of a parameter type, and all problems. Their paths begin below the field."""
    read, problems = _value(raw, hint, base, ())
    return read, problems or _range(field, read, ())


def is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def schema(params: type) -> JSON:
    """The JSON Schema of the mappings that `convert` takes for this parameter type."""
    fields = fields_of(params)
    return {
        "type": "object",
        "properties": {name.removesuffix("_"): schema_of(*declared) for name, declared in fields.items()},
        "required": [name.removesuffix("_") for name, (field, _) in fields.items() if is_required(field)],
        "additionalProperties": False,
    }


def schema_of(field: dataclasses.Field[Any], hint: Any) -> JSON:
    """The JSON Schema of one field: its type or its form, the range of its numbers, its help and default."""
    form, text = field.metadata.get("form"), field.metadata.get("help")
    bounds = {
        name: field.metadata[name] for name in ("minimum", "maximum") if field.metadata.get(name) is not None
    }
    notes = {"description": text} if text else {}
    if field.default is not dataclasses.MISSING and form is None:
        notes["default"] = plain(field.default)
    return {**(_type_schema(hint, bounds) if form is None else form.schema), **notes}


def _type_schema(hint: Any, bounds: dict[str, float]) -> JSON:
    simple = {bool: "boolean", str: "string", type(None): "null"}
    if hint is Path:
        return {"type": "string", "minLength": 1}
    if hint in simple:
        return {"type": simple[hint]}
    if hint in (int, float):
        return {"type": "integer" if hint is int else "number", **bounds}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(args)}
    if is_union(hint):
        made = [{"$ref": "#/$defs/made"}] if {str, Path} <= set(args) else []
        return {"anyOf": [*(_type_schema(arg, bounds) for arg in args), *made]}
    if is_list(hint):
        fixed = len(args) > 1 and args[1] is not Ellipsis
        items = [_type_schema(arg, bounds) for arg in args]
        if fixed:
            return {"type": "array", "prefixItems": items, "minItems": len(args), "maxItems": len(args)}
        return {"type": "array", **({"items": items[0]} if items else {})}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return schema(hint)
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _type_schema(args[1], bounds)}
    return {}


def plain(value: Any) -> JSON:
    """A parameter's value as plain JSON data, for keys, provenance and messages."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def paths_in(value: Any) -> list[Path]:
    """All paths that a parameter's value holds, in order."""
    if isinstance(value, Path):
        return [value]
    if isinstance(value, Mapping):
        return [path for item in value.values() for path in paths_in(item)]
    if isinstance(value, list | tuple):
        return [path for item in value for path in paths_in(item)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [path for name in fields_of(type(value)) for path in paths_in(getattr(value, name))]
    return []


def with_paths(value: Any, change: Callable[[Path], Path]) -> Any:
    """A parameter's value with the result of `change` in the place of each path."""
    if isinstance(value, Path):
        return change(value)
    if isinstance(value, Mapping):
        return {key: with_paths(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(with_paths(item, change) for item in value)
    if paths_in(value):
        changed = {name: with_paths(getattr(value, name), change) for name in fields_of(type(value))}
        return dataclasses.replace(value, **changed)
    return value


def is_list(hint: Any) -> bool:
    """Whether a value of this type may be a list. A grid must not fan out such a list."""
    if is_union(hint):
        return any(is_list(item) for item in typing.get_args(hint))
    return typing.get_origin(hint) in (tuple, list, Sequence)


def is_list_of_lists(hint: Any) -> bool:
    """Whether a value of this type may be a list whose items are lists."""
    if is_union(hint):
        return any(is_list_of_lists(item) for item in typing.get_args(hint))
    return is_list(hint) and any(is_list(item) for item in typing.get_args(hint))


def describe(hint: Any) -> str:
    """A type in a user's words."""
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path"}
    if hint in words:
        return words[hint]
    if hint is None or hint is type(None):
        return "null"
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ("one of " if len(args) > 1 else "") + ", ".join(repr(arg) for arg in args)
    if is_union(hint):
        return " or ".join(describe(arg) for arg in args)
    if origin in (tuple, list, Sequence):
        return f"a list, each item {describe(args[0])}" if args else "a list"
    return "a mapping"


def shown(value: JSON) -> str:
    """A value as a message quotes it, cut short."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = repr(value) if not isinstance(value, Mapping) else str(value.get("made", "a mapping"))
    text = "a list" if isinstance(value, list) else text
    return text if len(text) <= 60 else text[:57] + "..."


def _value(raw: JSON, hint: Any, base: Path, path: Keys) -> tuple[Any, list[Problem]]:
    wrong = [Problem(None, path, f"expected {describe(hint)}, got {shown(raw)}")]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if is_union(hint):
        if isinstance(raw, str) and {str, Path} <= set(args) and not raw.startswith((".", "/", "~")):
            return raw, []  # for `Path | str`, a text without one of these at its start is a name
        return _first(raw, args, base, path, wrong)
    if origin is typing.Literal:
        same = [arg for arg in args if arg == raw and type(arg) is type(raw)]
        return (same[0], []) if same else (None, wrong)
    if origin in (tuple, list, Sequence):
        return _items(raw, args, base, path, wrong)
    if origin in (dict, Mapping):
        if not isinstance(raw, dict):
            return None, wrong
        pairs = {key: _value(item, args[1], base, (*path, key)) for key, item in raw.items()}
        problems = [problem for _, inner in pairs.values() for problem in inner]
        return {key: value for key, (value, _) in pairs.items()}, problems
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        if not isinstance(raw, dict):
            return None, wrong
        value, inner = convert(hint, raw, base)
        return value, [problem._replace(path=(*path, *problem.path)) for problem in inner]
    return _scalar(raw, hint, base, wrong)


def _first(
    raw: JSON, args: tuple[Any, ...], base: Path, path: Keys, wrong: list[Problem]
) -> tuple[Any, list[Problem]]:
    deeper: list[Problem] = []
    for arg in args:
        value, problems = _value(raw, arg, base, path)
        if not problems:
            return value, []
        if isinstance(arg, type) and dataclasses.is_dataclass(arg) and isinstance(raw, dict):
            deeper = problems  # the mapping is meant for this dataclass, so its own problems help most
        else:
            deeper = [problem for problem in problems if problem.path != path] or deeper
    return None, deeper or wrong


def _items(
    raw: JSON, args: tuple[Any, ...], base: Path, path: Keys, wrong: list[Problem]
) -> tuple[Any, list[Problem]]:
    if not isinstance(raw, list):
        return None, wrong
    variadic = len(args) < 2 or args[1] is Ellipsis
    if not variadic and len(args) != len(raw):
        return None, wrong
    hints = [args[0] if args else Any] * len(raw) if variadic else list(args)
    numbered = enumerate(zip(raw, hints, strict=True))
    pairs = [_value(item, hint, base, (*path, i)) for i, (item, hint) in numbered]
    return tuple(value for value, _ in pairs), [problem for _, inner in pairs for problem in inner]


def _scalar(raw: JSON, hint: Any, base: Path, wrong: list[Problem]) -> tuple[Any, list[Problem]]:
    if hint is Any:
        return raw, []
    if hint is Path and type(raw) is str and raw:
        return _path(raw, base, wrong)
    if hint is float and type(raw) in (int, float):
        try:
            return float(raw), []
        except OverflowError:
            return None, wrong
    if hint is type(None) and raw is None:
        return None, []
    if isinstance(hint, type) and type(raw) is hint:  # `type`, because a bool is no whole number here
        return raw, []
    return None, wrong


def _path(raw: str, base: Path, wrong: list[Problem]) -> tuple[Path | None, list[Problem]]:
    try:
        path = base / Path(raw).expanduser()
    except RuntimeError:
        return None, [wrong[0]._replace(text=f"{shown(raw)}: the user's home folder is not known")]
    if "\0" in raw or len(os.fsencode(path)) > 4000 or any(len(os.fsencode(x)) > 255 for x in path.parts):
        return None, [wrong[0]._replace(text=f"{shown(raw)} cannot be a path; check it")]
    return path, []


def _range(field: dataclasses.Field[Any], value: Any, path: Keys) -> list[Problem]:
    """The problems of a number, or of the numbers in a list or mapping, with the range of the field."""
    if isinstance(value, Mapping | tuple):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        return [problem for key, item in items for problem in _range(field, item, (*path, key))]
    if type(value) not in (int, float):
        return []
    if value != value or value in (float("inf"), float("-inf")):
        return [Problem(None, path, f"expected a finite number, got {value}")]
    low, high = field.metadata.get("minimum"), field.metadata.get("maximum")
    got = int(value) if value == int(value) else value  # as it was written
    if low is not None and value < low:
        return [Problem(None, path, f"expected at least {low}, got {got}")]
    if high is not None and value > high:
        return [Problem(None, path, f"expected at most {high}, got {got}")]
    return []


def is_union(hint: Any) -> bool:
    """Whether a type is `A | B`."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)
