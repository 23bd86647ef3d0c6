"""The differences between two leaderboards of one suite: what was changed, and how each mean changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET, to_builtins

from harness.compare.data import Filters, distinct_names, of_boards
from harness.compare.significance import Comparison, Settings, compare
from harness.errors import HarnessError
from harness.leaderboard import board_file, history, selection
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Row
from harness.leaderboard.same_rules import different_data, redefined_columns

Key = tuple[str, str, str]  # (dataset, system, origin)


class Change(NamedTuple):
    """A setting or version that differs, with the systems whose rows it affects. Without systems, it affects
    the whole suite."""

    text: str
    systems: tuple[str, ...] = ()


class Moved(NamedTuple):
    """One mean of a row in both leaderboards. `comparison` is None if per-query values are missing."""

    dataset: str
    measure: str
    system: str
    before: float
    after: float
    seconds: tuple[float | None, float | None]
    comparison: Comparison | None


class Diff(NamedTuple):
    names: tuple[str, str]
    changes: tuple[Change, ...]
    moved: tuple[Moved, ...]  # the means that differ
    same: int  # how many rows have only equal means
    came: tuple[str, ...]  # rows; a row that failed has the reason
    went: tuple[str, ...]
    refused: tuple[str, ...]  # why the numbers of a dataset, or all numbers, are not compared
    notes: tuple[str, ...]
    alpha: float


def diff(paths: tuple[Path, Path], filters: Filters | None = None) -> Diff:
    """The differences of two leaderboards. Rows are matched by dataset, system and origin."""
    filters = filters or Filters()
    old, new = (board_file.read(path) for path in paths)
    names = distinct_names((old, new), paths)
    old, new = (_part(board, filters, (old, new)) for board in (old, new))
    rows = _by_key(old, filters), _by_key(new, filters)
    shared = [key for key in rows[1] if key in rows[0]]
    refused, sound = _refused(old, new, names)
    pairs = [(rows[0][key], rows[1][key]) for key in shared if key[0] in sound]
    compared, notes = _compared(old, new, names, sound, filters) if any(map(_differ, pairs)) else ({}, [])
    return Diff(
        (names[0], names[1]),
        (*_suite_changes(old, new), *_row_changes([(rows[0][key], rows[1][key]) for key in shared])),
        tuple(_moved(new, pairs, compared)),
        sum(not _differ(pair) and pair[1].status == "ok" for pair in pairs),
        tuple(_alone(rows[1], rows[0])),
        tuple(_alone(rows[0], rows[1])),
        tuple(refused),
        tuple(notes),
        Settings().alpha,
    )


def _part(board: Leaderboard, filters: Filters, both: Sequence[Leaderboard]) -> Leaderboard:
    """The leaderboard with only the datasets that `filters` choose. A pattern for datasets or measures must
    match in at least one of the leaderboards `both`."""
    selection.check_patterns(
        "dataset", {item.name for each in both for item in each.data.datasets}, filters.datasets
    )
    selection.check_patterns("measure", {label for each in both for label in each.columns}, filters.measures)
    datasets = [item.name for item in board.data.datasets if selection.fits(item.name, filters.datasets)]
    return selection.of_datasets(board, datasets)


def _by_key(board: Leaderboard, filters: Filters) -> dict[Key, Row]:
    chosen = [row for row in board.rows if selection.fits(row.system, filters.systems)]
    return {(row.dataset, row.system, row.origin): row for row in chosen}


def _refused(old: Leaderboard, new: Leaderboard, names: Sequence[str]) -> tuple[list[str], set[str]]:
    """The reasons why numbers cannot be compared, and the datasets on which they can."""
    if old.data.suite.protocol != new.data.suite.protocol:
        return ["the protocols differ, so no number is compared"], set()
    redefined = redefined_columns(old, new)
    if redefined:
        return [f"{', '.join(redefined)}: computed differently, so no number is compared"], set()
    refused, sound = [], set()
    before = {item.name for item in old.data.datasets}
    for name in [item.name for item in new.data.datasets if item.name in before]:
        parts = [selection.of_datasets(board, [name]) for board in (old, new)]
        different = different_data(parts, names)
        refused += different
        if not different:
            sound.add(name)
    return refused, sound


def _suite_changes(old: Leaderboard, new: Leaderboard) -> Iterator[Change]:
    one, other = old.data.suite, new.data.suite
    for what in ("depth", "seed", "protocol", "measures"):
        values = [getattr(suite, what) for suite in (one, other)]
        if values[0] != values[1]:
            yield Change(f"{what} {_shown(values[0])} -> {_shown(values[1])}")
    before = {item.name: item for item in old.data.datasets}
    for item in new.data.datasets:
        if item.name in before:
            yield from _dataset_changes(before[item.name], item)


def _dataset_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    for what in ("split", "plugin", "params", "unknown_judgements", "limited", "counts"):
        held = [getattr(item, what) for item in (old, new)]
        values = [None if value is UNSET else to_builtins(value) for value in held]
        if isinstance(values[0], dict) and isinstance(values[1], dict):
            for key in dict.fromkeys([*values[0], *values[1]]):
                if values[0].get(key) != values[1].get(key):
                    yield Change(f"{new.name}: {key} {values[0].get(key)} -> {values[1].get(key)}")
        elif values[0] != values[1]:
            yield Change(f"{new.name}: {what} {_shown(values[0])} -> {_shown(values[1])}")


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _row_changes(pairs: Sequence[tuple[Row, Row]]) -> list[Change]:
    """Each change once, with the systems whose rows have it."""
    systems: dict[str, dict[str, None]] = {}
    for old, new in pairs:
        for text in history.parameters(old.provenance, new.provenance, versions=True):
            systems.setdefault(text, {})[new.system] = None
    return [Change(text, tuple(names)) for text, names in systems.items()]


def _differ(pair: tuple[Row, Row]) -> bool:
    old, new = pair
    shared = old.measures.keys() & new.measures.keys()
    return any(old.measures[label].mean != new.measures[label].mean for label in shared)


def _compared(
    old: Leaderboard, new: Leaderboard, names: Sequence[str], sound: set[str], filters: Filters
) -> tuple[dict[tuple[str, str, str], Comparison], list[str]]:
    """The comparisons by dataset, column and system, with notes; empty if no row has per-query values."""
    boards = [selection.of_datasets(board, sound) for board in (old, new)]
    try:
        loaded = of_boards(boards, names, Filters((), filters.measures, ()), together=False)
        compared = compare(loaded, Settings("name"))
    except HarnessError as error:
        return {}, [f"without intervals: {problem}" for problem in error.problems]
    systems = {
        (field.dataset, entry.name): entry.system for field in loaded.fields for entry in field.entries
    }
    items = {
        (item.dataset, item.measure, systems[item.dataset, item.first]): item for item in compared.comparisons
    }
    return items, [note for note in compared.notes if " failed, " not in note]


def _moved(
    new: Leaderboard, pairs: Sequence[tuple[Row, Row]], compared: dict[tuple[str, str, str], Comparison]
) -> Iterator[Moved]:
    for dataset in new.data.datasets:
        for label in new.columns:
            for old_row, row in pairs:
                one, other = old_row.measures.get(label), row.measures.get(label)
                if row.dataset == dataset.name and one and other and one.mean != other.mean:
                    comparison = compared.get((row.dataset, label, row.system))
                    seconds = old_row.cost.seconds, row.cost.seconds
                    yield Moved(row.dataset, label, row.system, one.mean, other.mean, seconds, comparison)


def _alone(rows: dict[Key, Row], others: dict[Key, Row]) -> Iterator[str]:
    """The rows of `rows` that succeeded, and that `others` lacks or has as failed rows, with the reason."""
    for key, row in rows.items():
        other = others.get(key)
        if row.status == "ok" and (other is None or other.status == "failed"):
            yield row.name if other is None else f"{row.name} (failed: {other.error})"
