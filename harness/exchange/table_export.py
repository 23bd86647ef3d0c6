"""Tables for pandas or a spreadsheet: a table of the rows, and a table of the per-query values."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from harness.exchange.written_files import Written, put, scored
from harness.leaderboard import per_query, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.store import disk
from harness.store.artifacts import Store

Value: TypeAlias = tuple[str, str, str, str, str, float]
VALUES = ("dataset", "split", "system", "query", "measure", "value")


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes `rows.csv` and `values.csv`, in UTF-8."""
    notes: list[str] = []
    rows = put(out / "rows.csv", text_tables.render(board, "csv").encode())
    target = out / "values.csv"
    with disk.replacing(target) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(VALUES)
        writer.writerows([*map(text_tables.harmless, record)] for record in records(board, notes))
    return Written((rows, target), tuple(notes))


def records(board: Leaderboard, notes: list[str] | None = None) -> Iterator[Value]:
    """One record for each row, query and measure: `pandas.DataFrame(records(board), columns=VALUES)`. A row
    whose values are missing is left out, with a line added to `notes`."""
    notes = [] if notes is None else notes
    for row in scored(board, notes):
        per_query_values = per_query.read(board, row)
        if per_query_values is None:
            notes.append(f"{row.name}: its values for each query are not here, and are left out")
            continue
        head = row.dataset, row.split, row.system
        queries = per_query_values.queries.to_pylist()
        for label in row.measures:
            values = per_query_values.values(label)
            if values is not None:
                yield from (
                    (*head, query, label, value)
                    for query, value in zip(queries, values.tolist(), strict=True)
                )
