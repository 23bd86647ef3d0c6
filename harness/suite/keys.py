"""How a key of a suite is declared: once, as a field that its reader, its docs and the JSON Schema share.

A section is a frozen dataclass with a field for each key. A field has a type that parameters can have too, or
a form. A trailing underscore in the name of a field is no part of the key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from harness import records
from harness.catalogue import params
from harness.problems import Keys, Named, nearest
from harness.suite.yaml_nodes import Node
from harness.types import JSON

if TYPE_CHECKING:
    from harness.suite.forms import Forms

MOST = 1_000_000  # hits of a query
LARGEST = 2**63 - 1  # the largest whole number of a suite
Split: TypeAlias = tuple[str, str]  # dataset and split


class Form(NamedTuple):
    """A form of values that no type says: its reader and, for the same values, its JSON Schema."""

    read: Callable[[Any, Node, Keys], Any]  # (forms, node, path) -> the value, or None with problems noted
    schema: JSON


def key(
    default: Any = dataclasses.MISSING,
    help: str = "",
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    form: Form | None = None,
    meant_by: tuple[str, ...] = (),
) -> Any:
    """A key of a section: a parameter that may have a form. `meant_by` are other words that people try for
    the key; a message then names the key."""
    metadata = records.param(default, help, minimum=minimum, maximum=maximum).metadata
    return dataclasses.field(default=default, metadata={**metadata, "form": form, "meant_by": meant_by})


def fields_of(section: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """The keys of a section, each with its field and type, in the usual order of writing."""
    return {name.removesuffix("_"): declared for name, declared in params.fields_of(section).items()}


def unknown_key(name: str, section: type) -> str:
    """The message for a key that a section does not have."""
    fields = fields_of(section)
    words = {word: key for key, (field, _) in fields.items() for word in (key, *field.metadata["meant_by"])}
    close = nearest(name, sorted(words))
    if close is None:
        return f"unknown key '{name}'; choose from: {', '.join(fields)}"
    return f"unknown key '{name}'; did you mean '{words[close]}'?"


# forms


def names(what: str) -> Form:
    """One name, or a list of names."""

    def read(forms: Forms, node: Node, path: Keys) -> tuple[str, ...] | None:
        items = node.value if isinstance(node.value, list) else [node]
        texts = tuple(item.value for item in items if isinstance(item.value, str))
        if len(texts) < len(items) or not texts:
            forms.note(node, path, f"expected the name of a {what}, or a list of names")
        if what == "system":
            forms.referred[what] += [Named(node.place, path, text) for text in texts]
        return texts or None

    text: JSON = {"type": "string"}
    return Form(read, {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]})


def name_of(what: str) -> Form:
    """One name. Names of systems, measures and datasets are checked when the whole suite is read."""

    def read(forms: Forms, node: Node, path: Keys) -> str | None:
        if not isinstance(node.value, str) or not node.value:
            forms.note(node, path, f"expected the name of a {what}, got {params.shown(node.plain())}")
            return None
        forms.referred[what].append(Named(node.place, path, node.value))
        return node.value

    return Form(read, {"type": "string", "minLength": 1})


def list_of(form: Form, least: int = 0) -> Form:
    """One value of a form, or a list of such values."""

    def read(forms: Forms, node: Node, path: Keys) -> tuple[Any, ...] | None:
        items = places(node, path)
        if len(items) < least:
            forms.note(node, path, "is empty; name at least one")
        values = [form.read(forms, item, inner) for item, inner in items]
        return tuple(value for value in values if value is not None) or None

    several = {"type": "array", "items": form.schema, **({"minItems": least} if least else {})}
    return Form(read, {"anyOf": [form.schema, several]})


def places(node: Node, path: Keys) -> list[tuple[Node, Keys]]:
    """Each item of a list with its path, or the only item with the path of the node."""
    if not isinstance(node.value, list):
        return [(node, path)]
    return [(item, (*path, i)) for i, item in enumerate(node.value)]


def by_name(form: Form) -> Form:
    """A mapping of names to values of a form."""

    def read(forms: Forms, node: Node, path: Keys) -> dict[str, Any] | None:
        if not isinstance(node.value, dict):
            forms.note(node, path, f"expected a mapping of names, got {params.shown(node.plain())}")
            return None
        values = {name: form.read(forms, item, (*path, name)) for name, item in node.value.items()}
        return {name: value for name, value in values.items() if value is not None}

    return Form(read, {"type": "object", "additionalProperties": form.schema})


def within(section: type) -> Form:
    """A section."""
    return Form(lambda forms, node, path: forms.section(section, node, path), params.schema(section))


def _read_group(forms: Forms, node: Node, path: Keys) -> tuple[str, ...] | None:
    listed = [item.value for item in node.value] if isinstance(node.value, list) else []
    if len(listed) < 2 or any(not isinstance(name, str) or listed.count(name) > 1 for name in listed):
        forms.note(node, path, "expected a list of two or more different datasets; name them")
        return None
    return tuple(listed)


def _read_split(forms: Forms, node: Node, path: Keys) -> Split | None:
    name, _, split = node.value.rpartition("/") if isinstance(node.value, str) else ("", "", "")
    if not (name and split):
        forms.note(node, path, f"expected DATASET/SPLIT, got {params.shown(node.plain())}")
        return None
    forms.referred["split"].append(Named(node.place, path, node.value))
    return name, split


def _read_seeds(forms: Forms, node: Node, path: Keys) -> tuple[int, ...] | None:
    seeds = seeds_in(node)
    if not seeds:
        forms.note(node, path, "expected a list of different whole numbers: [0, 1, 2]")
    return seeds or None


def seeds_in(node: Node) -> tuple[int, ...]:
    """The seeds that a list of different whole numbers below 2^31 gives; empty for anything else."""
    seeds = node.plain()
    if not isinstance(seeds, list) or not all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds):
        return ()
    return tuple(seeds) if len(set(seeds)) == len(seeds) else ()


def _read_protocol(forms: Forms, node: Node, path: Keys) -> str | None:
    if not isinstance(node.value, str):
        forms.note(node, path, f"expected a name, got {params.shown(node.plain())}")
        return None
    return node.value if forms.find(node, path, "protocols", node.value) else None


def plugin(kind: str) -> JSON:
    """The schema of a plugin of this kind with its parameters and the keys beside it."""
    return {"$ref": f"#/$defs/{kind}"}


DATASETS_TOGETHER = Form(
    _read_group, {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True}
)
SPLIT = Form(_read_split, {"type": "string", "pattern": "^.+/[^/]+$"})
DATASET, SYSTEM, MEASURE = name_of("dataset"), name_of("system"), name_of("measure")
SEEDS = Form(
    _read_seeds,
    {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        "minItems": 1,
        "uniqueItems": True,
    },
)
PROTOCOL = Form(_read_protocol, plugin("protocols"))
