"""The scores of a recipe over several seeds: one line for each measure, with two spreads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from harness.findings import Finding
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.leaderboard.text_tables import Table
from harness.scoring import bootstrap, seeds
from harness.scoring.measures.names import is_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREFIX = "seeds/"
COLUMNS = (
    "system", "measure", "seeds", "queries", "mean", "over seeds (sd)", "over queries (se)", "low", "high",
)  # fmt: skip
SAYS = (
    "The mean over seeds, the standard deviation of the seeds' means, the standard error over queries, and "
    "the 95 % interval over seeds and queries together (docs/statistics.md). With few seeds the interval is "
    "wide: they say little about the next seed."
)


def with_seeds(board: Leaderboard) -> Leaderboard:
    """The leaderboard with the means of its recipes over seeds among its analyses."""
    others = tuple(item for item in board.data.analyses or () if not item.name.startswith(PREFIX))
    made = tuple(findings(board))
    if not made and others == tuple(board.data.analyses or ()):
        return board
    return Leaderboard(structs.replace(board.data, analyses=(*others, *made)), board.folder)


def findings(board: Leaderboard) -> Iterator[Finding]:
    """One table for each dataset that has a recipe with two or more seeds."""
    for dataset in board.data.datasets:
        rows = []
        for recipe, members in recipes(board.rows_of(dataset.name)).items():
            values = [per_query.read(board, row) for row in members]
            for column in board.data.columns:
                label = column.label
                each = [None if item is None else item.columns.get(label) for item in values]
                matrix = [item for item in each if item is not None]
                if len(matrix) == len(members) and len({len(item) for item in matrix}) == 1:
                    rows.append((recipe, label, *_numbers(np.stack(matrix), is_sum(column.measure))))
        if rows:
            yield Finding(
                name=f"{PREFIX}{dataset.name}", title=f"Means over seeds: {dataset.name}", kind="table",
                columns=COLUMNS, rows=tuple(rows), dataset=dataset.name, says=SAYS,
            )  # fmt: skip


def recipes(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each recipe that has two or more seeds, if none of them failed."""
    by_recipe: dict[str, list[Row]] = {}
    for row in rows:
        if row.recipe and row.origin == "run":
            by_recipe.setdefault(row.recipe, []).append(row)
    return {
        recipe: members
        for recipe, members in by_recipe.items()
        if len(members) > 1 and all(row.status == "ok" for row in members)
    }


def _numbers(values: NDArray[np.float64], sums: bool) -> tuple[int | float, ...]:
    """The numbers of one table row, from values float64[S, Q]: the counts of seeds and queries, the mean, the
    standard deviation of the seeds' means, the standard error over queries, and the interval."""
    count, queries = values.shape
    scale = queries if sums else 1
    spread = seeds.mean(values)
    numbers = (
        spread.value,
        float(values.mean(axis=1).std(ddof=1)),
        float(spread.variances[0]) ** 0.5,
        *spread.interval,
    )
    return count, queries, *(round(number * scale, bootstrap.DECIMALS) for number in numbers)


def tables(board: Leaderboard) -> list[Table]:
    """The tables of means over seeds for people: one line for each recipe, one column for each measure."""
    shown, datasets = [], {dataset.name for dataset in board.data.datasets}
    for finding in board.data.analyses or ():
        if not finding.name.startswith(PREFIX) or finding.dataset not in datasets:
            continue
        labels = [label for label in board.columns if any(row[1] == label for row in finding.rows)]
        lines: dict[str, dict[str, str]] = {}
        for row in finding.rows:
            cells = lines.setdefault(f"{row[0]} ({row[2]} seeds)", {})
            cells[str(row[1])] = f"{row[4]:.4f} ± {row[5]:.4f} [{row[7]:.3f}, {row[8]:.3f}]"
        body = tuple((name, *(cells.get(label, "") for label in labels)) for name, cells in lines.items())
        title = f"{finding.dataset}: means over seeds ± their standard deviation"
        shown.append(Table(title, ("system", *labels), body))
    return [table for table in shown if table.rows]
