"""Keeps the earlier leaderboards of a folder, and lists what has changed since the last one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from harness.leaderboard.board_file import Leaderboard, encoded
from harness.leaderboard.cited_files import within
from harness.leaderboard.model import Board, Cost, Environment, Provenance, Row
from harness.store import disk
from harness.types import JSON

FOLDER = "previous"
KEPT = 5
NAME = re.compile(r"leaderboard-(\d+)\.json")


def keep(before: Leaderboard, after: Leaderboard) -> Path | None:
    """Writes the earlier leaderboard into `previous/` and returns its path; only the last few are kept.
    Returns None, and writes nothing, if the two leaderboards differ at most in cost and environment."""
    if _lasting(before.data) == _lasting(after.data):
        return None
    folder = after.folder / FOLDER
    folder.mkdir(exist_ok=True)
    numbers = sorted(int(name[1]) for path in folder.iterdir() if (name := NAME.fullmatch(path.name)))
    number = numbers[-1] + 1 if numbers else 1
    path = folder / f"leaderboard-{number}.json"
    disk.replace_file(path, encoded(before.data))
    for old in [*numbers, number][:-KEPT]:
        (folder / f"leaderboard-{old}.json").unlink(missing_ok=True)
    return path


def remove_runs(before: Leaderboard, after: Leaderboard) -> None:
    """Removes the files of rows that a run made and that are in `before` but not in `after`. Files that a row
    of `after` cites stay."""
    names = {(row.dataset, row.system) for row in after.rows}
    cited = {file.path for row in after.rows for file in row.files.values()}
    for row in before.rows:
        if row.origin == "run" and (row.dataset, row.system) not in names:
            for file in row.files.values():
                path = within(before.folder, file.path)
                if path is not None and file.path not in cited:
                    path.unlink(missing_ok=True)


def changes(before: Leaderboard, after: Leaderboard) -> list[str]:
    """One line for each row that was added, was removed, or has other parameters or scores."""
    old = {(row.dataset, row.system, row.origin): row for row in before.rows}
    new = {(row.dataset, row.system, row.origin): row for row in after.rows}
    lines = []
    for key, row in new.items():
        if key not in old:
            lines.append(f"{row.name}: is new")
        elif differences := list(_differences(old[key], row)):
            lines.append(f"{row.name}: {'; '.join(differences)}")
    return lines + [f"{row.name}: is gone" for key, row in old.items() if key not in new]


def _lasting(board: Board) -> Board:
    """The leaderboard without cost and environment: what two runs of a suite on the same data share."""
    rows = tuple(structs.replace(row, cost=Cost()) for row in board.rows)
    return structs.replace(board, rows=rows, environment=Environment())


def _differences(old: Row, new: Row) -> Iterator[str]:
    if old.status != new.status:
        yield "failed before" if new.status == "ok" else "fails now"
    yield from dict.fromkeys(parameters(old.provenance, new.provenance))  # steps may share parameters
    for label in dict.fromkeys([*old.measures, *new.measures]):
        one, other = (row.measures.get(label) for row in (old, new))
        if one is None or other is None:
            if new.status == old.status:
                yield f"{label} is {'gone' if other is None else 'new'}"
        elif one.mean != other.mean:
            yield f"{label} {one.mean:.4f} -> {other.mean:.4f} ({other.mean - one.mean:+.4f})"


def parameters(old: Provenance, new: Provenance, versions: bool = False) -> Iterator[str]:
    """The parameters and versions in which two rows differ, step by step. If the rows have different methods,
    only the methods are named. With `versions`, also libraries' versions and edited methods."""
    methods = [[(step.step, step.name) for step in provenance.steps] for provenance in (old, new)]
    if methods[0] != methods[1]:
        if old.steps and new.steps:
            yield from _methods(*methods) if versions else ("other methods",)
        return
    for one, other in zip(old.steps, new.steps, strict=True):
        both = [*one.params.items(), *other.params.items()]
        missing = dict.fromkeys(name for name, value in both if _is_missing(value))
        # without its files a method's other parameters are not resolved: `auto` is no change of theirs
        for name in missing or dict.fromkeys([*one.params, *other.params]):
            values = [step.params.get(name) for step in (one, other)]
            if values[0] != values[1]:
                yield f"{other.name}: {name} {values[0]} -> {values[1]}"
        if one.version != other.version:
            yield f"{other.name}: version {one.version} -> {other.version}"
        for name in sorted({*one.libraries, *other.libraries}) if versions else ():
            known = [step.libraries.get(name, "none") for step in (one, other)]
            if known[0] != known[1]:
                yield f"{name} {known[0]} -> {known[1]}"
        if versions and one.sources != other.sources:
            yield f"{other.name}: its sources were edited"


def _is_missing(value: JSON) -> bool:
    return isinstance(value, dict) and list(value) == ["missing"]  # as a key names a path that is not there


def _methods(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> Iterator[str]:
    """The steps that only one of two rows has: `without` for the old row's, `with` for the new one's."""
    for word, here, elsewhere in (("without", old, new), ("with", new, old)):
        left = list(elsewhere)
        for step in here:
            if step in left:
                left.remove(step)
            else:
                yield f"{word} {step[1]} ({step[0]})"
