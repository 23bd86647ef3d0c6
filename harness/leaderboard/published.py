"""Adds the rows of papers to a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from harness.errors import HarnessError
from harness.leaderboard import means
from harness.leaderboard.board_file import Leaderboard


def beside(board: Leaderboard, others: Sequence[Leaderboard]) -> Leaderboard:
    """The leaderboard followed by the published rows of `others` that have the same dataset, split and
    column. The split may differ if the suite says, by `beside`, that the two are comparable. Raises
    HarnessError for a leaderboard of `others` that adds nothing."""
    splits = {dataset.name: dataset.split for dataset in board.data.datasets}
    comparable = {entry.published: entry.split for entry in board.data.suite.beside or ()}
    columns = {column.label: (column.measure, column.unit) for column in board.data.columns}
    rows = list(board.rows)
    data = board.data
    limited = [dataset.name for dataset in board.data.datasets if dataset.limited]
    if others and limited:
        problem = f"{board.data.name}: is a trial, limited on {', '.join(limited)}"
        raise HarnessError(f"{problem}; published numbers are of whole collections: run it without limits")
    for other in others:
        shared = {
            column.label
            for column in other.data.columns
            if columns.get(column.label) == (column.measure, column.unit)
        }
        added = []
        for row in other.rows:
            measures = {label: measure for label, measure in row.measures.items() if label in shared}
            split = splits.get(row.dataset)
            if row.origin != "published" or split is None or not measures:
                continue
            if split == row.split:
                added.append(structs.replace(row, measures=measures))
            elif split == comparable.get(other.data.name.removeprefix("published/")):
                flags = (*row.flags, f"published on the split '{row.split}', beside rows on '{split}'")
                added.append(structs.replace(row, measures=measures, flags=flags))
        before, data = (
            data,
            means.with_published(data, [row for row in other.rows if row.origin == "published"], shared),
        )
        if not added and data == before:
            has = ", ".join(f"{dataset.name}/{dataset.split}" for dataset in other.data.datasets)
            problem = (
                f"{other.data.name}: has no published row on a dataset, split and column of {board.data.name}"
            )
            advice = "name the datasets in the suite likewise, or say `beside`"
            raise HarnessError(f"{problem}; it has {has}: {advice}")
        rows += added
    return Leaderboard(structs.replace(data, rows=tuple(rows)), board.folder)
