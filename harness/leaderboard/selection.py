"""A part of a leaderboard: the datasets and columns that patterns name, with rows sorted by a measure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from msgspec import structs

from harness.errors import HarnessError
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Measure
from harness.problems import nearest


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name equals or matches one of the patterns. Without patterns, every name fits."""
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def check_patterns(kind: str, names: Collection[str], patterns: Sequence[str], option: str = "") -> None:
    """Raises HarnessError for a pattern that matches no name. The message names the option as `--OPTION`, or
    as `--KIND` if no `option` is given."""
    for pattern in patterns:
        if not any(fits(name, (pattern,)) for name in names):
            close = nearest(pattern, sorted(names))
            meant = f"did you mean '{close}'? " if close is not None else ""
            problem = f"--{option or kind} {pattern}: matches no {kind}"
            raise HarnessError(f"{problem}; {meant}there are {', '.join(sorted(names))}")


def selected(
    board: Leaderboard, datasets: Sequence[str] = (), measures: Sequence[str] = (), sort: str | None = None
) -> Leaderboard:
    """The leaderboard with only the datasets and columns that match. `sort` is the label of a column: the
    rows of each dataset are sorted by it, the best first, and rows without it come last."""
    data = board.data
    check_patterns("dataset", {item.name for item in data.datasets}, datasets)
    check_patterns("measure", set(board.columns), measures)
    check_patterns("measure", set(board.columns), () if sort is None else (sort,), "sort")
    kept = [item.name for item in data.datasets if fits(item.name, datasets)]
    rows = [row for row in data.rows if row.dataset in kept]
    averages = [item for item in data.averages or () if not datasets]
    if sort is not None:
        rows.sort(key=lambda row: (kept.index(row.dataset), _best_first(row.measures, sort)))
        averages = [
            structs.replace(
                item, rows=tuple(sorted(item.rows, key=lambda row: _best_first(row.measures, sort)))
            )
            for item in averages
        ]
    content = structs.replace(
        data,
        datasets=tuple(item for item in data.datasets if item.name in kept),
        columns=tuple(column for column in data.columns if fits(column.label, measures)),
        rows=tuple(rows),
        averages=tuple(averages),
    )
    return Leaderboard(content, board.folder)


def _best_first(measures: dict[str, Measure], label: str) -> tuple[bool, float]:
    return label not in measures, -measures[label].mean if label in measures else 0.0


def of_datasets(board: Leaderboard, names: Collection[str]) -> Leaderboard:
    """The leaderboard with only these datasets and their rows, without averages."""
    content = structs.replace(
        board.data,
        datasets=tuple(item for item in board.data.datasets if item.name in names),
        rows=tuple(row for row in board.rows if row.dataset in names),
        averages=(),
    )
    return Leaderboard(content, board.folder)
