"""Joins the files of index parts, which several workers have written, in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.store import disk
from harness.store.manifest import MANIFEST
from harness.types import IndexPart


def gather(parts: Sequence[IndexPart], folder: Path, below: str = "") -> None:
    """Links the files of all parts into `folder`, at the paths that they have within their parts. With
    `below`, only the files under that subfolder are linked. Of equal paths, the last one stays."""
    for part in parts:
        for path in sorted((part.folder / below).rglob("*")):
            name = path.relative_to(part.folder)
            if path.is_file() and name.as_posix() != MANIFEST:
                disk.link(path, folder / name)
