"""Keys: the SHA-256 of canonical JSON of everything that can change a number, and of nothing else."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from harness.catalogue import Entry, params
from harness.plan import plugin_sources
from harness.problems import exists
from harness.types import JSON

Digest = Callable[[Path], str]  # the digest of the contents of a file or a folder


def canonical(value: JSON) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def key(described: Mapping[str, JSON]) -> str:
    return hashlib.sha256(canonical(described)).hexdigest()


def method(entry: Entry, values: Any, digest: Digest, leave_out: tuple[str, ...] = ()) -> dict[str, JSON]:
    """The description of a plugin's record and parameters for a key. The parameters in `leave_out` are left
    out."""
    record = entry.record
    addresses = {name: addressed(value, digest) for name, value in _items(values) if name not in leave_out}
    by_param = record.libraries_by_param(values) if record.libraries_by_param else {}
    further = [item for name in by_param if name not in leave_out for item in by_param[name]]
    return {
        "name": record.name,
        "version": record.version,
        "sources": plugin_sources.digest(entry.plugin.module, entry.plugin.distribution),
        "libraries": {name: library(name) for name in sorted({*record.libraries, *further})},
        "params": addresses,
    }


def addressed(value: Any, digest: Digest) -> JSON:
    """A parameter's value as plain data for a key. A path is replaced by the digest of the contents at it."""
    if isinstance(value, Path):
        return {"sha256": digest(value)} if exists(value) else {"missing": str(value)}
    if isinstance(value, Mapping):
        return {str(name): addressed(item, digest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [addressed(item, digest) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: addressed(item, digest) for name, item in _items(value)}
    return params.plain(value)


def _items(values: Any) -> list[tuple[str, Any]]:
    fields = params.fields_of(type(values)).items()
    return [(name, getattr(values, name)) for name, (field, _) in fields if field.metadata.get("keyed", True)]


@functools.cache
def library(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
