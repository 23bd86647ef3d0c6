"""The installed entry points of a group, read from the distributions' own files.

`importlib.metadata` is not used, because it parses the metadata of every distribution. With all extras
installed, that takes longer than all other work of `harness list`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

METADATA = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    name: str
    value: str  # `module` or `module:attribute`
    distribution: str
    version: str

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    def load(self) -> Any:
        loaded: Any = import_module(self.module)
        attributes = self.value.partition(":")[2].partition("[")[0].strip()
        for name in filter(None, attributes.split(".")):
            loaded = getattr(loaded, name)
        return loaded


def find(group: str, folders: Sequence[str] | None = None) -> list[EntryPoint]:
    """The entry points of a group, in the order of the import path. A distribution that is hidden by an
    earlier one of the same name is left out."""
    points: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in sys.path if folders is None else folders:
        for metadata in _metadata_in(folder or "."):
            name = metadata.name.partition("-")[0].removesuffix(".egg").lower().replace(".", "_")
            if name not in seen:
                seen.add(name)
                points += _points(metadata, group)
    return points


def _metadata_in(folder: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith(METADATA))
    except OSError:  # the folder is missing, or is a zip file, in which plugins are not looked for
        return []


def _points(metadata: Path, group: str) -> Iterator[EntryPoint]:
    try:
        text = (metadata / "entry_points.txt").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # most distributions have no entry points
        return
    if f"[{group}]" not in text:
        return
    name, version = _identity(metadata)
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == group and "=" in line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            yield EntryPoint(key.strip(), value.strip(), name, version)


def _identity(metadata: Path) -> tuple[str, str]:
    """The name and version in the distribution's metadata."""
    fields: dict[str, str] = {}
    for file in ("METADATA", "PKG-INFO"):
        if (metadata / file).is_file():
            text = (metadata / file).read_text(encoding="utf-8", errors="replace")
            for line in text.partition("\n\n")[0].splitlines():
                key, _, value = line.partition(":")
                fields.setdefault(key.lower(), value.strip())
            break
    return fields.get("name", metadata.name.partition("-")[0]), fields.get("version", "unknown")
