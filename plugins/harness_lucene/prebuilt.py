"""Finds Pyserini's prebuilt indexes on this machine, and downloads a missing one."""

from __future__ import annotations

import os
from pathlib import Path

from harness.plugin import HarnessError, unknown
from harness_lucene.runtime import Java


def folder(java: Java, name: str) -> Path:
    """The folder of a prebuilt index, downloaded if missing. Raises HarnessError if that fails."""
    from jnius import JavaException

    catalogue = java("io.anserini.index.prebuilt.PrebuiltInvertedIndex")
    entry = catalogue.get(name)
    if entry is None:
        known = [item.name for item in catalogue.entries().toArray()]
        raise HarnessError(f"prebuilt: {unknown('index', name, known)}")
    at = place(entry.filename, entry.md5)
    if at.is_dir():
        return at
    try:
        handler = java("io.anserini.util.PrebuiltIndexHandler").get(name)
        handler.fetch(str(at.parent))  # checks the download against the entry's MD5
    except JavaException as error:
        raise HarnessError(
            f"prebuilt: '{name}' is not here and could not be fetched; unpack"
            f" {entry.urls[0]} and name its folder {at}"
        ) from error
    return at


def place(file: str, md5: str) -> Path:
    """The folder in which Pyserini and Anserini keep the index of the archive `file`."""
    cache_folder = os.environ.get("ANSERINI_INDEX_CACHE")
    cache = Path(os.environ.get("PYSERINI_CACHE") or Path.home() / ".cache" / "pyserini")
    return (
        Path(cache_folder) if cache_folder else cache / "indexes"
    ) / f"{file.replace('.tar.gz', '')}.{md5}"
