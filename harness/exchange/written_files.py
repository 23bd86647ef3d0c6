"""What an export wrote, and what the exports share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.leaderboard.board_file import Leaderboard
from harness.store import disk
from harness.types import JSON


class Written(NamedTuple):
    paths: tuple[Path, ...]
    notes: tuple[str, ...]  # what was left out, and why


def scored(board: Leaderboard, notes: list[str]) -> Iterator[JSON]:
    """The rows that have numbers; the others are noted."""
    for row in board.rows:
        if row["status"] == "ok":
            yield row
        else:
            notes.append(f"{name(row)}: failed, and is left out")


def name(row: JSON) -> str:
    return f"{row['dataset']} / {row['system']}"


def dataset_of(board: Leaderboard, row: JSON) -> JSON:
    found: JSON = next(item for item in board.data["datasets"] if item["name"] == row["dataset"])
    return found


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    disk.replace_file(path, data)
    return path
