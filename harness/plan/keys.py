"""Content addresses: the SHA-256 of canonical JSON of whatever can change a number, and nothing else."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from harness import params
from harness.catalogue import OWN, Entry
from harness.types import JSON

Digest = Callable[[Path], str]  # of a file or a folder, by contents


def canonical(value: JSON) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def key(described: Mapping[str, JSON]) -> str:
    return hashlib.sha256(canonical(described)).hexdigest()


def method(entry: Entry, values: Any, digest: Digest, leave_out: tuple[str, ...] = ()) -> dict[str, JSON]:
    """What of a plugin's record and parameters goes into a key."""
    record = entry.record
    given = {name: addressed(value, digest) for name, value in _items(values) if name not in leave_out}
    by_param = record.linked(values) if record.linked else {}
    linked = [item for name in by_param if name not in leave_out for item in by_param[name]]
    return {
        "name": record.name,
        "version": record.version,
        "sources": sources(entry.plugin.module, entry.plugin.distribution),
        "libraries": {name: library(name) for name in sorted({*record.libraries, *linked})},
        "params": given,
    }


def addressed(value: Any, digest: Digest) -> JSON:
    """A parameter by what it says; a path by the contents that it names."""
    if isinstance(value, Path):
        return {"sha256": digest(value)} if value.exists() else {"missing": str(value)}
    if isinstance(value, Mapping):
        return {str(name): addressed(item, digest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [addressed(item, digest) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: addressed(item, digest) for name, item in _items(value)}
    return params.plain(value)


def paths_in(value: Any) -> list[Path]:
    """Every path that a parameter value holds, in order."""
    if isinstance(value, Path):
        return [value]
    if isinstance(value, Mapping):
        return [path for item in value.values() for path in paths_in(item)]
    if isinstance(value, list | tuple):
        return [path for item in value for path in paths_in(item)]
    if hasattr(value, "__dataclass_fields__"):
        return [path for _, item in _items(value) for path in paths_in(item)]
    return []


def _items(values: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(values, name)) for name in params.fields_of(type(values))]


@functools.cache
def library(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


@functools.cache
def sources(module: str, distribution: str) -> str | None:
    """The digest of a plugin's own sources (and, for ours, of the toolkit) while they can change under
    an unchanged version: in an editable install, or when there is no record of installed files."""
    if not _editable(distribution):
        return None
    packages = [module.partition(".")[0], *(["harness.toolkit"] if distribution == OWN else [])]
    hashed = hashlib.sha256()
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        origin = Path(spec.origin)
        files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
        for file in files:
            hashed.update(f"{package}/{file.relative_to(origin.parent).as_posix()}\0".encode())
            hashed.update(hashlib.sha256(file.read_bytes()).digest())
    return hashed.hexdigest()


def _editable(distribution: str) -> bool:
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return True
    address = found.read_text("direct_url.json")
    if address is not None:
        return bool(json.loads(address).get("dir_info", {}).get("editable", False))
    return found.read_text("RECORD") is None
