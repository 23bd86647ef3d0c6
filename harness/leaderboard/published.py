"""The rows of papers, beside the rows of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from harness.errors import HarnessError
from harness.leaderboard import averages
from harness.leaderboard.board_file import Leaderboard


def beside(board: Leaderboard, others: Sequence[Leaderboard]) -> Leaderboard:
    """A leaderboard with the published rows of others behind its rows, where they have the same dataset,
    split and column. Raises HarnessError for one that has nothing to add."""
    splits = {dataset.name: dataset.split for dataset in board.data.datasets}
    columns = {column.label: (column.measure, column.unit) for column in board.data.columns}
    rows = list(board.rows)
    data = board.data
    for other in others:
        shared = {
            column.label
            for column in other.data.columns
            if columns.get(column.label) == (column.measure, column.unit)
        }
        added = []
        for row in other.rows:
            measures = {label: measure for label, measure in row.measures.items() if label in shared}
            if row.origin == "published" and splits.get(row.dataset) == row.split and measures:
                added.append(structs.replace(row, measures=measures))
        before, data = (
            data,
            averages.published(data, [row for row in other.rows if row.origin == "published"], shared),
        )
        if not added and data == before:
            has = ", ".join(f"{dataset.name}/{dataset.split}" for dataset in other.data.datasets)
            problem = (
                f"{other.data.name}: has no published row on a dataset, split and column of {board.data.name}"
            )
            raise HarnessError(f"{problem}; it has {has}: name the datasets in the suite likewise")
        rows += added
    return Leaderboard(structs.replace(data, rows=tuple(rows)), board.folder)
