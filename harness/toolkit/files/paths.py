"""Finds files under the names that people have them: as they were released, or compressed since."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

COMPRESSED = (".gz", ".zst")


def there(path: Path) -> Path:
    """The file as it is, or compressed; where there is none, the name that it should have."""
    return first_there([path])


def first_there(paths: Sequence[Path]) -> Path:
    """The first of these that exists, as it is or compressed; where none does, the first name."""
    for path in paths:
        for suffix in ("", *COMPRESSED):
            candidate = path.with_name(path.name + suffix)
            if candidate.exists():
                return candidate
    return paths[0]


def bare(path: Path) -> Path:
    """Without the ending that says how it is compressed."""
    return path.with_suffix("") if path.suffix in COMPRESSED else path
