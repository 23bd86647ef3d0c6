"""Lists of queries to look at: where two systems differ most, and where one system fails, group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.errors import HarnessError
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.problems import nearest


class Difference(NamedTuple):
    query: str
    first: float
    second: float

    @property
    def size(self) -> float:
        return self.first - self.second


class Group(NamedTuple):
    """The failures of one system in a group of queries."""

    name: str
    failed: tuple[str, ...]  # the failed queries, in the order of the dataset
    queries: int  # the number of queries in the group


def label_of(board: Leaderboard, rows: Sequence[Row], measure: str | None) -> str:
    """The column to look at: the column `measure`, or else the first that all of the rows have."""
    if measure is not None:
        if measure not in board.columns:
            close = nearest(measure, board.columns)
            meant = f"did you mean '{close}'? " if close is not None else ""
            problem = f"the leaderboard has no such column; {meant}it has {', '.join(board.columns)}"
            raise HarnessError(f"--measure '{measure}': {problem}")
        return measure
    for label in board.columns:
        if all(label in row.measures for row in rows):
            return label
    names = ", ".join(row.system for row in rows)
    raise HarnessError(f"{names}: have no measure in common; choose systems of one unit")


def values_of_both(board: Leaderboard, first: Row, second: Row, label: str) -> dict[str, tuple[float, float]]:
    """The values of both rows by query, of the queries on which both were scored."""
    one, two = _values(board, first, label), _values(board, second, label)
    left, right = one.values(label), two.values(label)
    assert left is not None
    assert right is not None
    others = dict(zip(two.queries.to_pylist(), right.tolist(), strict=True))
    named = zip(one.queries.to_pylist(), left.tolist(), strict=True)
    return {name: (value, others[name]) for name, value in named if name in others}


def differing(values: Mapping[str, tuple[float, float]]) -> list[Difference]:
    """The queries on which two rows differ, the largest difference first, equal ones in the file's order."""
    differences = [Difference(name, a, b) for name, (a, b) in values.items() if a != b]
    return sorted(differences, key=lambda item: -abs(item.size))


def failing(
    board: Leaderboard, row: Row, label: str, grouped: Mapping[tuple[str, str], Sequence[str]]
) -> list[Group]:
    """The queries that score 0, in groups: first all, then each group of queries, the worst first."""
    row_values = _values(board, row, label)
    values = row_values.values(label)
    assert values is not None
    names = row_values.queries.to_pylist()
    failed = [name for name, value in zip(names, values.tolist(), strict=True) if value == 0]
    groups = [Group("all queries", tuple(failed), len(names))]
    bad, scored = set(failed), set(names)
    inside = [
        Group(
            f"{kind}: {word}",
            tuple(name for name in members if name in bad),
            len(scored.intersection(members)),
        )
        for (kind, word), members in grouped.items()
    ]
    return groups + sorted(inside, key=lambda group: -len(group.failed) / max(1, group.queries))


def _values(board: Leaderboard, row: Row, label: str) -> per_query.PerQuery:
    values = per_query.read(board, row)
    if values is None:
        raise HarnessError(f"{row.name}: its per-query values are not in the folder; run the suite again")
    if values.values(label) is None:
        raise HarnessError(f"{row.name}: was not scored by {label}; choose another --measure")
    return values
