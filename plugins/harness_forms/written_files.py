"""The files that an export wrote, and functions that all exports use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.plugin import HarnessError
from harness.toolkit.boards import Leaderboard, Row
from harness.toolkit.boards.exchange import within
from harness.toolkit.files import writing


class Written(NamedTuple):
    paths: tuple[Path, ...]
    notes: tuple[str, ...]  # what was left out, with reasons


def scored(board: Leaderboard, notes: list[str]) -> Iterator[Row]:
    """The rows that have numbers. A note is added for each of the others."""
    for row in board.rows:
        if row.status == "ok":
            yield row
        else:
            notes.append(f"{row.name}: failed, and is left out")


def target(out: Path, *parts: str) -> Path:
    """The path of a file named after a row; its folder is created. Raises HarnessError for a name that leads
    out of the folder."""
    path = within(out, *parts)
    if path is None:
        raise HarnessError(
            f"{'/'.join(parts)!r}: cannot name a file below --out; rename it in the leaderboard"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def put(path: Path, data: bytes) -> Path:
    writing.replace_file(path, data)
    return path
