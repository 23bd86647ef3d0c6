"""An index from parts that several workers have written: their files side by side in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.store import disk
from harness.store.artifacts import MANIFEST
from harness.types import IndexPart


def gather(parts: Sequence[IndexPart], folder: Path, below: str = "") -> None:
    """Put the files of all parts, or those below a folder of them, where they were within their parts. Of
    files with the same name the last one stays."""
    for part in parts:
        for path in sorted((part.folder / below).rglob("*")):
            name = path.relative_to(part.folder)
            if path.is_file() and name.as_posix() != MANIFEST:
                disk.link(path, folder / name)
