"""The base of all steps: what enters a key, which steps it reads, and its form on the wire."""

from __future__ import annotations

import functools
import hashlib
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

import orjson
from msgspec import Struct

from harness.steps.sizes import Amount, Counts, Sizes
from harness.types import JSON, Unit

Result = TypeVar("Result", covariant=True)

CostPart: TypeAlias = Literal["augment", "index", "rewrite", "search", "combine", "rerank"]
UNKEYED: Final = "unkeyed"  # marks a field that changes no number: it is in no key, and names no input
IF_GIVEN: Final = "if given"  # marks a field that a type got later: None is in no key, so that old keys stay
_SCALARS: Final = frozenset((str, int, float, bool, type(None)))  # most values, and told by their type alone


class Ref(Struct, Generic[Result], frozen=True, forbid_unknown_fields=True):
    """The result of another step. `Result` is the type of the result; only type checkers read it."""

    step: str  # the id of the step


class Found(Struct, frozen=True, tag="found", tag_field="by", forbid_unknown_fields=True):
    """A parameter's value that a tuning step finds."""

    step: str
    name: str  # of the parameter


class Model(Struct, frozen=True, tag="model", tag_field="by", forbid_unknown_fields=True):
    """A model that the suite makes, or one of several that one training makes."""

    step: str  # the step that trains the model, or that chooses its checkpoint
    part: str


class Backbone(Struct, frozen=True, forbid_unknown_fields=True):
    """A model without which a made model cannot be loaded: a folder, or another made model. The trainer's
    parameters have the digest of the folder."""

    model: Model | None = None
    folder: Annotated[str, UNKEYED] = ""


class Bound(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter whose value another step makes."""

    parameter: str
    value: Found | Model
    item: int | None = None  # the place of the value, if the parameter is a list


class Uses(Struct, frozen=True, forbid_unknown_fields=True):
    """A record of a plugin as it enters a key."""

    name: str
    version: str
    sources: str  # the digest of the plugin's code
    libraries: dict[str, str] = {}
    params: dict[str, JSON] = {}


class Method(Uses, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method with its parameters. `params` has the values as they enter the key, with digests in place of
    paths; `given` has all values, as the method is built from them."""

    bound: tuple[Bound, ...] = ()  # what other steps make; it replaces what stands in its place in `given`
    backbones: tuple[Backbone, ...] = ()  # of the models in `bound`
    uses: tuple[Uses, ...] = ()  # the records that the method builds on
    kind: Annotated[str, UNKEYED] = ""  # in `harness.catalogue.KINDS`
    given: Annotated[dict[str, JSON], UNKEYED] = {}
    plugin: Annotated[str, UNKEYED] = ""  # the distribution and its version
    cores: Annotated[Literal["one", "all"], UNKEYED] = "one"
    resources: Annotated[dict[str, float], UNKEYED] = {}
    cannot_be_keyed: Annotated[str | None, UNKEYED] = None  # why its results cannot be found again by a key
    # by these a made model's settings are resolved; the results that the step reads already depend on them
    language: Annotated[str | None, UNKEYED] = None
    query_language: Annotated[str | None, UNKEYED] = None
    unit: Annotated[Unit, UNKEYED] = "passage"


class Record(
    Struct, Generic[Result], frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """A step: what is done, to which results of other steps. `Result` is the type of its result."""

    # A number in every key. It is raised when the harness itself writes the artifact differently, or writes
    # other numbers into it.
    format: ClassVar[int] = 1
    is_cuttable: ClassVar[bool] = False  # whether several workers can share the step
    is_apart: ClassVar[bool] = False  # whether the steps behind this one are not a system's own work
    counts_as: ClassVar[CostPart | None] = None  # the part of a system's cost that the step is

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The ids of the steps that this one reads, each once, in the order of the fields."""
        return steps_in(self)

    @property
    def keyed(self) -> dict[str, JSON]:
        """Everything that can change a number of the result, as plain data."""
        return {"kind": self.kind, "format": self.format, **_keyed_fields(self)}

    @property
    def key(self) -> str:
        return digest(self.keyed)

    def amount(self, sizes: Sizes) -> Amount | None:
        """The counts that the step's cost grows with, or None if they are not known."""
        return None

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        """The same counts of the finished step, from what it counted itself."""
        return self.amount(sizes)


class ByMethod(Record[Result], frozen=True, kw_only=True):
    """A step that a plugin's method does."""

    method: Method


def method_of(record: Record[Any]) -> Method | None:
    return record.method if isinstance(record, ByMethod) else None


def methods_in(value: object) -> Iterator[Method]:
    """All methods of a record, those of fields that are not keyed too."""
    every = _structs(value, lambda kind: kind.__struct_fields__)
    return (struct for struct in every if isinstance(struct, Method))


def placed(
    params: Mapping[str, JSON], bound: Iterable[Bound], value_of: Callable[[Found | Model], JSON]
) -> dict[str, JSON]:
    """`params` with a value for each bound parameter in its place."""
    filled = dict(params)
    for each in bound:
        value = value_of(each.value)
        if each.item is not None:
            items = [*filled[each.parameter]]
            items[each.item] = value
            value = items
        filled[each.parameter] = value
    return filled


def steps_in(value: object) -> tuple[str, ...]:
    """The ids of the steps that a value refers to, each once, in the order of the fields."""
    references = (each for each in _structs(value, _keyed_names) if isinstance(each, Ref | Found | Model))
    return tuple(dict.fromkeys(each.step for each in references))


def digest(plain: JSON) -> str:
    """The SHA-256 of canonical JSON."""
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()


def keyed(value: Any) -> JSON:
    """A value of a record as plain data, without the fields that are not keyed."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list | tuple):
        return [keyed(item) for item in value]
    if isinstance(value, dict):
        return {name: keyed(item) for name, item in value.items()}
    if isinstance(value, Record):
        return value.keyed
    return {**_tag(value), **_keyed_fields(value)} if isinstance(value, Struct) else value


def _tag(value: Struct) -> dict[str, JSON]:
    config = value.__struct_config__
    return {} if config.tag_field is None else {config.tag_field: config.tag}


def _keyed_fields(value: Struct) -> dict[str, JSON]:
    later = _names_marked(type(value), IF_GIVEN)
    fields = {name: getattr(value, name) for name in _keyed_names(type(value))}
    return {name: keyed(item) for name, item in fields.items() if item is not None or name not in later}


def _structs(value: object, names_of: Callable[[type[Struct]], Iterable[str]]) -> Iterator[Struct]:
    """A value's records, and those in their fields that `names_of` gives, in the order of the fields."""
    if type(value) in _SCALARS:
        return
    if isinstance(value, Struct):
        yield value
        for name in names_of(type(value)):
            yield from _structs(getattr(value, name), names_of)
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _structs(item, names_of)


@functools.cache
def _keyed_names(kind: type[Struct]) -> tuple[str, ...]:
    """The fields of a type that are keyed, in order."""
    unkeyed = _names_marked(kind, UNKEYED)
    return tuple(name for name in kind.__struct_fields__ if name not in unkeyed)


@functools.cache
def _names_marked(kind: type[Struct], mark: str) -> frozenset[str]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if mark in getattr(hint, "__metadata__", ()))


AnyRecord: TypeAlias = Record[Any]
