"""Keys: the SHA-256 of canonical JSON of everything that can change a number, and of nothing else."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from harness.catalogue import params
from harness.problems import exists
from harness.types import JSON

Digest = Callable[[Path], str]  # the digest of the contents of a file or a folder


def canonical(value: JSON) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def key(described: Mapping[str, JSON]) -> str:
    return hashlib.sha256(canonical(described)).hexdigest()


def addressed(value: Any, digest: Digest) -> JSON:
    """A parameter's value as plain data for a key. A path is replaced by the digest of the contents at it."""
    if isinstance(value, Path):
        return {"sha256": digest(value)} if exists(value) else {"missing": str(value)}
    if isinstance(value, Mapping):
        return {str(name): addressed(item, digest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [addressed(item, digest) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: addressed(item, digest) for name, item in keyed_items(value)}
    return params.plain(value)


def keyed_items(values: Any) -> list[tuple[str, Any]]:
    """The parameters that can change a number, by name."""
    fields = params.fields_of(type(values)).items()
    return [(name, getattr(values, name)) for name, (field, _) in fields if field.metadata.get("keyed", True)]


@functools.cache
def library(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
