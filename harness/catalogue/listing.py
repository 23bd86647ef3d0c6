"""The data that `harness list` prints, kept in the user's cache folder until a plugin's files change.

They are kept because making the records of all plugins takes longer than all other work of `harness list`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness import catalogue, hookspecs, user_cache
from harness.catalogue import entry_points
from harness.catalogue.entry_points import EntryPoint


class Listed(NamedTuple):
    """The fields of one record that a list shows."""

    kind: str
    name: str
    summary: str
    distribution: str
    needs: tuple[str, ...]  # the modules that must be importable
    extra: str | None


def load() -> tuple[list[Listed], list[str]]:
    """All records by kind and name, and a line for each plugin that could not be loaded."""
    points = entry_points.find(hookspecs.PROJECT)
    memory = user_cache.listings() / _digest(points)
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [_listed(row) for row in json.loads(memory.read_bytes())], []
    loaded = catalogue.collect(points)
    records = list(_records(loaded))
    broken = [
        f"not loaded: {plugin.name} ({plugin.distribution}): {plugin.error}"
        for plugin in loaded.plugins
        if plugin.error
    ]
    if not broken:  # the cause of an error may disappear without a change of the plugin's files
        with contextlib.suppress(OSError):  # if the records cannot be saved, they are made each time
            memory.parent.mkdir(parents=True, exist_ok=True)
            beside = memory.with_name(f"{memory.name}.{os.getpid()}")
            beside.write_text(json.dumps(records), encoding="utf-8")
            beside.replace(memory)
    return records, broken


def _records(loaded: catalogue.Catalogue) -> Iterator[Listed]:
    for kind in catalogue.KINDS:
        for name in loaded.names(kind):
            for entry in loaded.entries[kind][name]:
                needs, extra = getattr(entry.record, "needs", ()), getattr(entry.record, "extra", None)
                yield Listed(kind, name, entry.record.summary, entry.plugin.distribution, tuple(needs), extra)


def _listed(row: list[object]) -> Listed:
    listed = Listed(*row)  # type: ignore[arg-type]
    return listed._replace(needs=tuple(listed.needs))


def _digest(points: Iterable[EntryPoint]) -> str:
    """The digest of the interpreter's version, and of the sizes and modification times of the files of the
    harness and of all plugins."""
    hashed = hashlib.sha256(sys.version.encode())
    for package in ("harness.catalogue", *(point.module for point in points)):
        for path, size, changed in stamps(package):
            hashed.update(f"{path} {size} {changed}\0".encode())
    hashed.update(repr(list(points)).encode())
    return hashed.hexdigest()


def stamps(module: str) -> Iterator[tuple[str, int, int]]:
    """The path, size and modification time of each file of a module or package. Files in subfolders are left
    out, because no list shows their contents."""
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        with os.scandir(folder) as entries:
            files = sorted((entry.path, entry.stat()) for entry in entries if entry.is_file())
        yield from ((path, stat.st_size, stat.st_mtime_ns) for path, stat in files)
    if spec and spec.origin and not spec.submodule_search_locations:
        stat = Path(spec.origin).stat()
        yield spec.origin, stat.st_size, stat.st_mtime_ns
