"""Every leaderboard below some folders, with its date and its name on the site."""

from __future__ import annotations

import datetime
import hashlib
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.plugin import HarnessError, shown_path
from harness.toolkit import boards
from harness.toolkit.boards import Dataset, Leaderboard, Row

COUNTS = ("passages", "judged_queries", "judgements")


class Entry(NamedTuple):
    """One leaderboard of the site."""

    board: Leaderboard
    name: str  # unique: the leaderboard's name, or its folder if another leaderboard has that name
    slug: str
    date: str  # the date of its last change: 2026-11-19
    earlier: bool  # whether it is an earlier leaderboard of its folder


class Line(NamedTuple):
    """One row of a leaderboard with its dataset."""

    entry: Entry
    row: Row
    dataset: Dataset

    @property
    def contents(self) -> str | None:
        """The digests that distinguish data of one name; None if the leaderboard lacks them."""
        known = self.dataset.contents or {}
        return " ".join(known[part] for part in boards.COMPARED_PARTS if part in known) or None

    @property
    def counts(self) -> tuple[int | None, ...]:
        return tuple(self.dataset.counts.get(what) for what in COUNTS)


def states(lines: Sequence[Line]) -> list[list[Line]]:
    """The rows of one dataset in groups of the same split and data. A row without digests of contents joins
    the first group of its split with the same counts of passages, queries and judgements."""
    groups: dict[tuple[object, ...], list[Line]] = {}
    by_counts: dict[tuple[object, ...], tuple[object, ...]] = {}
    for line in sorted(lines, key=lambda line: line.contents is None):
        key: tuple[object, ...] = (line.row.split, line.contents)
        counted = (line.row.split, *line.counts)
        if line.contents is None:
            key = by_counts.get(counted, counted)
        by_counts.setdefault(counted, key)
        groups.setdefault(key, []).append(line)
    return list(groups.values())


def collect(paths: Sequence[Path]) -> list[Entry]:
    """All leaderboards below these folders, sorted by name. Earlier ones follow a folder's current one."""
    files = sorted({file for path in paths for file in _files(path)})
    if not files:
        where = ", ".join(map(shown_path, paths))
        raise HarnessError(f"{where}: has no {boards.FILE}; name a folder of leaderboards")
    read = [(file, boards.read(file)) for file in files]
    names = [board.data.name for _, board in read if not _is_earlier(board)]
    dates = _dates(paths, files)
    entries = []
    for file, board in read:
        earlier = _is_earlier(board)
        name = board.data.name
        if names.count(name) > 1:
            name = f"{name} ({(file.parent.parent if earlier else file.parent).name})"
        number = file.stem.rpartition("-")[2]
        slug = slug_of(f"{name} earlier {number}" if earlier else name)
        entries.append(Entry(board, name, slug, dates[file], earlier))
    return sorted(entries, key=lambda entry: (entry.name.casefold(), entry.earlier, entry.slug))


def lines_of(entries: Iterable[Entry]) -> list[Line]:
    lines = []
    for entry in entries:
        datasets = {dataset.name: dataset for dataset in entry.board.data.datasets}
        lines += [
            Line(entry, row, datasets[row.dataset]) for row in entry.board.rows if row.dataset in datasets
        ]
    return lines


def slug_of(name: str) -> str:
    """A file name for any name. Two names never share a file name, even if the file system ignores case."""
    plain = re.sub(r"[^a-z0-9.+=-]+", "-", name.lower()).strip("-.")[:60]
    return (
        plain
        if plain and plain == name
        else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}".lstrip("-")
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    current = path.rglob(boards.FILE)
    kept = path.rglob(f"{boards.EARLIER_FOLDER}/*.json")
    return [*current, *(file for file in kept if boards.EARLIER_NAME.fullmatch(file.name))]


def _is_earlier(board: Leaderboard) -> bool:
    return board.folder.name == boards.EARLIER_FOLDER


def _dates(paths: Sequence[Path], files: Sequence[Path]) -> dict[Path, str]:
    """The date of each file: that of its last commit if git knows it, else the file's own."""
    dates: dict[Path, str] = {}
    for folder in dict.fromkeys(path if path.is_dir() else path.parent for path in paths):
        command = ["git", "-C", str(folder), "log", "--format=%n@%cs", "--name-only", "--relative", "--", "."]
        try:
            history = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        except (OSError, subprocess.TimeoutExpired):
            history = ""
        date = ""
        for line in history.splitlines():  # the latest commit comes first
            if line.startswith("@"):
                date = line[1:]
            elif line:
                dates.setdefault(folder / line, date)
    for file in files:
        if file not in dates:
            changed = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC)
            dates[file] = changed.date().isoformat()
    return dates
