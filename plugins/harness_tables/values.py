"""Tables for pandas or a spreadsheet: a table of the rows, and a table of the per-query values."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from typing import TypeAlias

from harness.plugin import HarnessError, shown_path
from harness.toolkit import boards, commands
from harness.toolkit.boards import Leaderboard
from harness.toolkit.files import writing

Value: TypeAlias = tuple[str, str, str, str, str, float]
VALUES = ("dataset", "split", "system", "query", "measure", "value")


def arguments(command: argparse.ArgumentParser) -> None:
    commands.leaderboard(command)
    commands.out(command, "the folder of rows.csv and values.csv")


def run(options: argparse.Namespace) -> int:
    """Writes `rows.csv` and `values.csv`, in UTF-8."""
    board = boards.read(options.leaderboard)
    out, notes = options.out, list[str]()
    if out.resolve() == board.folder.resolve():
        raise HarnessError(f"--out {shown_path(out)}: is the leaderboard's own folder; name another one")
    with writing.explaining(out):
        out.mkdir(parents=True, exist_ok=True)
        writing.replace_file(out / "rows.csv", boards.render(board, "csv").encode())
        with (
            writing.replacing(out / "values.csv") as beside,
            beside.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(VALUES)
            writer.writerows([*map(boards.harmless, record)] for record in records(board, notes))
    for note in notes:
        commands.say(f"note: {note}")
    commands.say(f"2 files: {shown_path(out.absolute())}")
    return 0


def records(board: Leaderboard, notes: list[str] | None = None) -> Iterator[Value]:
    """One record for each row, query and measure: `pandas.DataFrame(records(board), columns=VALUES)`. A row
    that failed or whose values are missing is left out, with a line added to `notes`."""
    notes = [] if notes is None else notes
    for row in board.rows:
        if row.status != "ok":
            notes.append(f"{row.name}: failed, and is left out")
            continue
        per_query = boards.values_of(board, row)
        if per_query is None:
            notes.append(f"{row.name}: its values for each query are not here, and are left out")
            continue
        head = row.dataset, row.split, row.system
        queries = per_query.queries.to_pylist()
        for label in row.measures:
            values = per_query.values(label)
            if values is not None:
                yield from (
                    (*head, query, label, value)
                    for query, value in zip(queries, values.tolist(), strict=True)
                )
