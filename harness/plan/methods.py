"""A method that a suite chooses: its name, its record in a step, and its needs that are missing here."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.catalogue import KINDS, Entry, missing_modules, params
from harness.made_models import Planned
from harness.plan import keys, plugin_calls
from harness.plan.keys import Digest
from harness.problems import Need, exists, missing_path
from harness.steps.record import Bound, Method, Model, Uses
from harness.suite import Chosen
from harness.types import JSON, Facts


class Resolved(NamedTuple):
    """A method that a suite chooses, ready for a step on one collection."""

    chosen: Chosen
    values: Any  # its parameters, with every `auto` replaced
    method: Method
    needs: tuple[Need, ...]


def named(name: str, written: dict[str, JSON]) -> str:
    """A method with the parameters that a suite gives it, such as `bm25 (k1=0.9)`. Long values are left out:
    texts of several lines, and mappings other than a made model."""
    kept = {
        key: value
        for key, value in written.items()
        if not ("\n" in value if isinstance(value, str) else isinstance(value, dict) and "made" not in value)
    }
    pairs = [f"{key}={params.shown(value)}" for key, value in kept.items()]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def method(
    chosen: Chosen, values: Any, digest: Digest, facts: Facts, leave_out: Sequence[str] = ()
) -> Method:
    """The method as a step has it. The parameters in `leave_out` are not keyed."""
    entry, record = chosen.entry, chosen.entry.record
    plain = _without_models(values)
    keyed = _uses(entry, values, plain, digest, leave_out)
    tuned = [Bound(name, value) for name, value in chosen.found]
    return Method(
        name=keyed.name,
        version=keyed.version,
        sources=keyed.sources,
        libraries=keyed.libraries,
        params={name: value for name, value in keyed.params.items() if name not in dict(chosen.found)},
        bound=tuple(item for item in (*_models_in(values), *tuned) if item.parameter not in leave_out),
        kind=next(kind for kind, known in KINDS.items() if type(record) is known),
        given=params.plain(plain),
        plugin=f"{entry.plugin.distribution} {entry.plugin.version}",
        cores=record.cores,
        resources=dict(chosen.resources),
        cannot_be_keyed=plugin_calls.unkeyed(record, values),
        language=facts.language,
        query_language=facts.query_language,
        unit=facts.unit,
    )


def uses(entry: Entry, values: Any, digest: Digest, leave_out: Sequence[str] = ()) -> Uses:
    """The part of a plugin's record and parameters that is keyed, without the parameters in `leave_out`."""
    return _uses(entry, values, values, digest, leave_out)


def _uses(entry: Entry, values: Any, plain: Any, digest: Digest, leave_out: Sequence[str]) -> Uses:
    """The same, where `plain` are the parameters without the made models."""
    record = entry.record
    by_param = record.libraries_by_param(values) if record.libraries_by_param else {}
    further = [item for name in by_param if name not in leave_out for item in by_param[name]]
    return Uses(
        name=record.name,
        version=record.version,
        sources=keys.sources(entry.plugin.module, entry.plugin.distribution),
        libraries={name: keys.library(name) for name in sorted({*record.libraries, *further})},
        params={
            name: keys.addressed(value, digest)
            for name, value in keys.keyed_items(plain)
            if name not in leave_out
        },
    )


def _models_in(values: Any) -> list[Bound]:
    """The made models among the parameters."""
    bound = []
    for name in params.fields_of(type(values)):
        value = getattr(values, name)
        if isinstance(value, Planned):
            bound.append(Bound(name, Model(value.step, value.part)))
        elif isinstance(value, tuple):
            bound += [
                Bound(name, Model(item.step, item.part), place)
                for place, item in enumerate(value)
                if isinstance(item, Planned)
            ]
    return bound


def _without_models(values: Any) -> Any:
    """The parameters with None in the place of each made model."""
    changed: dict[str, Any] = {}
    for name in params.fields_of(type(values)):
        value = getattr(values, name)
        if isinstance(value, Planned):
            changed[name] = None
        elif isinstance(value, tuple) and any(isinstance(item, Planned) for item in value):
            changed[name] = tuple(None if isinstance(item, Planned) else item for item in value)
    if not changed:
        return values
    copy = object.__new__(type(values))  # parameters may check themselves when they are made
    for field in dataclasses.fields(values):
        object.__setattr__(copy, field.name, changed.get(field.name, getattr(values, field.name)))
    return copy


def needs_of(chosen: Chosen, values: Any) -> list[Need]:
    """The needs of a method with the parameters `values` that are missing here: modules and files."""
    return [*missing_modules_of(chosen), *plugin_calls.missing_files(chosen.entry.record, values)]


def missing_modules_of(chosen: Chosen) -> list[Need]:
    need = missing_modules(chosen.entry.record, chosen.entry.plugin.distribution)
    return [] if need is None else [need]


def missing_paths(values: Any) -> list[Need]:
    return [missing_path(path) for path in params.paths_in(values) if not exists(path)]
