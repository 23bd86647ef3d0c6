"""Finds a file under its released name, or under that name with a compression suffix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_COMPRESSED = (".gz", ".zst")


def there(path: Path) -> Path:
    """The path of the file, uncompressed or compressed; `path` itself if neither exists."""
    return first_there([path])


def first_there(paths: Sequence[Path]) -> Path:
    """The path of the first of these files that exists, compressed or not; the first if none exists."""
    for path in paths:
        for suffix in ("", *_COMPRESSED):
            candidate = path.with_name(path.name + suffix)
            if candidate.exists():
                return candidate
    return paths[0]


def bare(path: Path) -> Path:
    """The path without its compression suffix."""
    return path.with_suffix("") if path.suffix in _COMPRESSED else path
