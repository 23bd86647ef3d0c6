"""The files that the rows of a leaderboard cite: where they are, and whether they are unchanged."""

from __future__ import annotations

from pathlib import Path

from harness.errors import HarnessError
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.problems import shown_path
from harness.store import disk


def within(folder: Path, *parts: str) -> Path | None:
    """The path of `parts` below `folder`; None if the path would lie elsewhere or cannot exist on a disk."""
    try:
        path = folder.joinpath(*parts)
        path.is_file()  # raises for a name that no disk can hold
        return path if path.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, ValueError, RuntimeError):
        return None


def located(board: Leaderboard, row: Row, kind: str) -> Path | None:
    """The path of a row's file of this kind (`run`, `per_query`). None if the row cites no such file, the
    file is missing, or it would lie outside of the leaderboard's folder."""
    file = row.files.get(kind)
    path = None if file is None else within(board.folder, file.path)
    return path if path is not None and path.is_file() else None


def intact(board: Leaderboard, row: Row, kind: str) -> Path | None:
    """The path of a row's file of this kind, with the content checked against the SHA-256 that the row cites.
    None if the row cites no such file or the file is missing. Raises HarnessError for a file that was
    changed, or that is cited outside of the leaderboard's folder."""
    file = row.files.get(kind)
    if file is None:
        return None
    path = within(board.folder, file.path)
    if path is None:
        raise HarnessError(f"{row.name}: cites {file.path!r}, outside of its folder; mend the leaderboard")
    if not path.is_file():
        return None
    if disk.sha256(path) != file.sha256:
        problem = "is not the file that the leaderboard cites (its SHA-256 differs)"
        raise HarnessError(f"{shown_path(path)}: {problem}; run the suite again")
    return path
