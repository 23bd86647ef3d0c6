"""Reads the leaderboards to be compared, and refuses those that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.compare.fields import Entry, Field, field_of
from harness.errors import HarnessError, Problems
from harness.leaderboard import board_file, per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.leaderboard.per_query import PerQuery
from harness.leaderboard.same_rules import different_data, redefined_columns
from harness.leaderboard.selection import check_patterns, fits
from harness.problems import shown_path


class Judged(NamedTuple):
    """A dataset without its judgements, and who judged it."""

    dataset: str
    by_machine: bool  # whether a machine made at least some of the judgements
    corpus: str  # digest of the content
    queries: str


class Loaded(NamedTuple):
    boards: tuple[str, ...]  # distinct names of the leaderboards
    fields: tuple[Field, ...]
    notes: tuple[str, ...]
    missing: tuple[tuple[str, str, str], ...]  # (dataset, system, reason): rows that a later board lacks
    averages: tuple[tuple[str, tuple[str, ...]], ...] = ()  # of the first leaderboard: name -> datasets
    judged: tuple[Judged, ...] = ()


class Filters(NamedTuple):
    """Patterns as in a shell. Without patterns of a kind, everything of that kind is taken."""

    datasets: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()


def load(paths: Sequence[Path], filters: Filters | None = None, together: bool = True) -> Loaded:
    """Reads leaderboards to compare. If all are compared `together`, a row that is unchanged in several of
    them is taken once. Raises HarnessError for leaderboards that cannot be compared, naming what differs."""
    boards = [board_file.read(path) for path in paths]
    return of_boards(boards, distinct_names(boards, paths), filters or Filters(), together)


def of_boards(
    boards: Sequence[Leaderboard], names: Sequence[str], filters: Filters, together: bool = True
) -> Loaded:
    """The data to compare, from leaderboards that were already read; `load` reads them from files."""
    run = [number for number, board in enumerate(boards) if not _only_published(board)]
    scored, scored_names = [boards[number] for number in run], [names[number] for number in run]
    _check_scoring(scored, scored_names)
    _check_filters(boards, filters)
    notes = list(_apart(scored, scored_names))
    labels = _labels(scored, scored_names, filters, notes) if scored else []
    fields = []
    for dataset in dict.fromkeys(row.dataset for board in boards for row in board.rows):
        if not fits(dataset, filters.datasets):
            continue
        entries = list(_entries(boards, names, dataset, filters, together, notes))
        if entries:
            fields.append(field_of(dataset, entries, labels, notes))
    if not fields:
        raise HarnessError(
            f"{names[0]}: no row with per-query values is left to compare; "
            "check the filters, and that the per-query files lie beside the leaderboard"
        )
    missing = tuple(_missing(boards, names, filters))
    averages = tuple((boards[0].data.suite.averages or {}).items())
    return Loaded(tuple(names), tuple(fields), tuple(notes), missing, averages, _judged(boards))


def _judged(boards: Sequence[Leaderboard]) -> tuple[Judged, ...]:
    """The judges of each dataset whose contents have digests. Datasets of one name have the same data, so the
    first of a name is used."""
    datasets = {dataset.name: dataset for board in reversed(boards) for dataset in board.data.datasets}
    return tuple(
        Judged(
            name,
            any((stage.judges or {}).get("machine") for stage in dataset.made or ()),
            contents["corpus"],
            contents["queries"],
        )
        for name, dataset in datasets.items()
        if (contents := dataset.contents or {}).keys() >= {"corpus", "queries"}
    )


def distinct_names(boards: Sequence[Leaderboard], paths: Sequence[Path]) -> list[str]:
    """The names of the leaderboards, or their paths if two leaderboards have the same name."""
    names = [str(board.data.name) for board in boards]
    if len(set(names)) < len(names):
        names = [shown_path(path.parent if path.is_file() else path) for path in paths]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return names


def _only_published(board: Leaderboard) -> bool:
    """Whether a leaderboard has published rows only. They have no values per query and are left out, so it
    does not matter how they were scored."""
    return all(row.origin == "published" for row in board.rows)


def _apart(boards: Sequence[Leaderboard], names: Sequence[str]) -> Iterator[str]:
    """What to say of each leaderboard that has no dataset in common with another. If this holds for all of
    them, the first needs no words of its own."""
    held = [{row.dataset for row in board.rows} for board in boards]
    lone = [i for i, mine in enumerate(held) if not any(mine & held[j] for j in range(len(held)) if j != i)]
    for i in lone[1:] if len(lone) == len(boards) else lone:
        yield (
            f"{names[i]} shares no dataset with the others, so its systems are compared with none of theirs; "
            f"it has {', '.join(sorted(held[i]))}: call the same data by the same name "
            "(for a run, `harness score --dataset NAME`)"
        )


def _check_scoring(boards: Sequence[Leaderboard], names: Sequence[str]) -> None:
    problems = []
    for board, name in zip(boards[1:], names[1:], strict=True):
        first = boards[0]
        one, other = first.data.suite.protocol, board.data.suite.protocol
        if one != other:
            problem = f"is scored by {_protocol(other)}, {names[0]} by {_protocol(one)}"
            problems.append(f"{name}: {problem}; score both by one protocol")
            continue
        for label in redefined_columns(first, board):
            problem = f"its column '{label}' is not computed as that of {names[0]}"
            problems.append(f"{name}: {problem}; score both by one version of the protocol")
    problems += different_data(boards, names)
    if problems:
        raise Problems(problems)


def _protocol(name: str | None) -> str:
    return f"the protocol '{name}'" if name else "bare measures"


def _check_filters(boards: Sequence[Leaderboard], filters: Filters) -> None:
    known = {
        "dataset": {row.dataset for board in boards for row in board.rows},
        "measure": {label for board in boards for label in board.columns},
        "system": {row.system for board in boards for row in board.rows},
    }
    for (option, names), patterns in zip(known.items(), filters, strict=True):
        check_patterns(option, names, patterns)


def _labels(
    boards: Sequence[Leaderboard], names: Sequence[str], filters: Filters, notes: list[str]
) -> list[tuple[str, str]]:
    """The label and measure of every column that all leaderboards have, in the order of the first."""
    shared = []
    for column in boards[0].data.columns:
        lacking = [
            name for name, board in zip(names, boards, strict=True) if column.label not in board.columns
        ]
        if lacking:
            notes.append(f"{column.label} is not in {', '.join(lacking)}, and is left out")
        elif fits(column.label, filters.measures):
            shared.append((column.label, column.measure))
    if not shared:
        raise HarnessError(f"{names[0]}: shares no measure with the others; score both by the same measures")
    return shared


def _entries(
    boards: Sequence[Leaderboard],
    names: Sequence[str],
    dataset: str,
    filters: Filters,
    together: bool,
    notes: list[str],
) -> Iterator[Entry]:
    rows = [
        (number, row)
        for number, board in enumerate(boards)
        for row in board.rows
        if row.dataset == dataset and fits(row.system, filters.systems) and _has_values(row, notes)
    ]
    if together:
        rows = _once(rows)
    by_name: dict[str, int] = {}
    for _, row in rows:
        by_name[row.system] = by_name.get(row.system, 0) + 1
    for number, row in rows:
        row_values = per_query.read(boards[number], row)
        if row_values is None:
            where = f"{names[number]}: {row.files['per_query'].path}"
            notes.append(f"{where} is not here, so {dataset} / {row.system} is left out")
            continue
        _check_values(row_values, boards[number], row)
        shown = row.system if by_name[row.system] == 1 else _shown(names, number, row, rows)
        yield Entry(shown, row.system, number, row, row_values)


def _shown(names: Sequence[str], number: int, row: Row, rows: Sequence[tuple[int, Row]]) -> str:
    twice = sum(other == number and item.system == row.system for other, item in rows) > 1
    return f"{names[number]}: {row.system}" + (f" ({row.origin})" if twice else "")


def _has_values(row: Row, notes: list[str]) -> bool:
    if row.status == "ok" and row.files.get("per_query"):
        return True
    why = "failed" if row.status == "failed" else "has no per-query values"
    notes.append(f"{row.name} ({row.origin}) {why}, and is left out")
    return False


def _once(rows: Sequence[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """The rows without duplicates. A duplicate has the same system, origin and values as an earlier row."""
    seen = set()
    kept = []
    for number, row in rows:
        mark = row.system, row.origin, row.files["per_query"].sha256
        if mark not in seen:
            seen.add(mark)
            kept.append((number, row))
    return kept


def _check_values(row_values: PerQuery, board: Leaderboard, row: Row) -> None:
    where = shown_path(board.folder / row.files["per_query"].path)
    for head, values in row_values.columns.items():
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            problem = f"'{head}' of the query '{row_values.queries[int(wrong[0])]}' is no finite number"
            raise HarnessError(f"{where}:{int(wrong[0]) + 2}: {problem}; run the suite again")


def _missing(
    boards: Sequence[Leaderboard], names: Sequence[str], filters: Filters
) -> Iterator[tuple[str, str, str]]:
    """The rows of the first leaderboard that a later leaderboard lacks or has as failed."""
    for board, name in zip(boards[1:], names[1:], strict=True):
        later = {(row.dataset, row.system): row for row in board.rows}
        for row in boards[0].rows:
            chosen = fits(row.dataset, filters.datasets) and fits(row.system, filters.systems)
            if row.status != "ok" or row.origin == "published" or not chosen:
                continue
            counterpart = later.get((row.dataset, row.system))
            if counterpart is None:
                yield row.dataset, row.system, f"is not in {name}"
            elif counterpart.status == "failed":
                yield row.dataset, row.system, f"failed in {name}: {counterpart.error}"


def check_baseline(baseline: str | None, entries: Sequence[Entry]) -> None:
    """Raises HarnessError if no entry has the name of the baseline."""
    names = {name for entry in entries for name in (entry.name, entry.system)}
    if baseline is not None and baseline not in names:
        known = ", ".join(sorted({entry.name for entry in entries}))
        raise HarnessError(f"--baseline {baseline}: there is no such system; there are {known}")
