"""Lists of queries to look at: where two systems differ most, and where one system fails, slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from harness.errors import HarnessError
from harness.inspect.material import Material
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
    """The failures of one system among the queries of a slice."""

    slice: str
    failed: tuple[str, ...]  # the failed queries, in the order of the dataset
    queries: int  # the number of queries in the slice


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


def differing(board: Leaderboard, first: Row, second: Row, label: str) -> list[Difference]:
    """The queries on which both rows were scored and differ, the largest difference first. Equal differences
    are in the order of the file."""
    one, two = _values(board, first, label), _values(board, second, label)
    at = pc.index_in(one.queries, value_set=two.queries).fill_null(-1).to_numpy()
    left, right = one.values(label), two.values(label)
    assert left is not None
    assert right is not None
    shared = np.flatnonzero(at >= 0)
    a, b = left[shared], right[at[shared]]
    size = np.abs(a - b)
    order = [i for i in np.argsort(-size, kind="stable") if size[i] > 0]
    names = one.queries.take(shared[order]).to_pylist() if order else []
    return [Difference(name, float(a[i]), float(b[i])) for name, i in zip(names, order, strict=True)]


def failing(board: Leaderboard, row: Row, label: str, material: Material | None) -> list[Group]:
    """The queries that score 0, in groups: first all queries, followed by each slice, the slice that fails
    most often first."""
    row_values = _values(board, row, label)
    values = row_values.values(label)
    assert values is not None
    names = row_values.queries.to_pylist()
    failed = [name for name, value in zip(names, values.tolist(), strict=True) if value == 0]
    groups = [Group("all queries", tuple(failed), len(names))]
    if material is None:
        return groups
    slices: dict[str, list[str]] = {}
    for name in names:
        number = material.number.get(name)
        for word in material.queries.slices[number] if number is not None else ():
            slices.setdefault(word, []).append(name)
    bad = set(failed)
    inside = [
        Group(word, tuple(name for name in members if name in bad), len(members))
        for word, members in sorted(slices.items())
    ]
    return groups + sorted(inside, key=lambda group: -len(group.failed) / group.queries)


def _values(board: Leaderboard, row: Row, label: str) -> per_query.PerQuery:
    values = per_query.read(board, row)
    if values is None:
        raise HarnessError(f"{row.name}: its per-query values are not in the folder; run the suite again")
    if values.values(label) is None:
        raise HarnessError(f"{row.name}: was not scored by {label}; choose another --measure")
    return values
