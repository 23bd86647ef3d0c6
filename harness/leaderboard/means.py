"""Means over rows of a leaderboard: over the datasets of a group, and over the seeds of a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from harness.findings import Finding
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Average, AverageRow, Board, Measure, Row
from harness.leaderboard.per_query import PARTS, PerQuery
from harness.leaderboard.text_tables import Table
from harness.scoring import bootstrap, seeds
from harness.scoring.measures.names import is_sum

# how far a row's number may be from its queries' mean: a sum is farther off
APART = 1e-5
SEEDS = "seeds/"
SEED_COLUMNS = (
    "system", "measure", "seeds", "queries", "mean", "over seeds (sd)", "over queries (se)", "low", "high",
)  # fmt: skip
SEED_NOTE = (
    "The mean over seeds, the standard deviation of the seeds' means, the standard error over queries, and "
    "the 95 % interval over seeds and queries together (docs/statistics.md). With few seeds the interval is "
    "wide: they say little about the next seed."
)


def with_averages(board: Leaderboard) -> Leaderboard:
    """The leaderboard with the averages that its suite names, computed from its rows and their values per
    query. A system is in an average if it has a row without failure on every dataset of the group."""
    groups = board.data.suite.averages
    if not groups:
        return board
    averages = tuple(_average(board, name, datasets) for name, datasets in groups.items())
    return Leaderboard(structs.replace(board.data, averages=averages), board.folder)


def with_published(board: Board, rows: Sequence[Row], shared: set[str]) -> Board:
    """The leaderboard with published rows added to its averages. These are the `rows` whose dataset has the
    name of an average, with only their measures in `shared`."""
    averages = []
    for average in board.averages or ():
        added = [
            AverageRow(row.system, row.origin, measures)
            for row in rows
            if row.dataset == average.name
            and (measures := {label: value for label, value in row.measures.items() if label in shared})
        ]
        averages.append(structs.replace(average, rows=(*average.rows, *added)))
    return structs.replace(board, averages=tuple(averages)) if averages else board


def _average(board: Leaderboard, name: str, datasets: Sequence[str]) -> Average:
    rows: dict[tuple[str, str], dict[str, Row]] = {}  # system and origin -> dataset -> its row
    for row in board.rows:
        if row.dataset in datasets and row.status == "ok" and row.origin != "published":
            rows.setdefault((row.system, row.origin), {})[row.dataset] = row
    lines = []
    for (system, _), by_dataset in rows.items():
        if len(by_dataset) < len(datasets):
            continue
        parts = [by_dataset[dataset] for dataset in datasets]
        values = [per_query.read(board, row) for row in parts]
        labels = [label for label in parts[0].measures if all(label in row.measures for row in parts)]
        measures = {label: _over_datasets(label, parts, values, board.data.suite.seed) for label in labels}
        lines.append(AverageRow(system, parts[0].origin, measures))
    return Average(name, tuple(datasets), tuple(lines))


def _over_datasets(label: str, rows: Sequence[Row], values: Sequence[PerQuery | None], seed: int) -> Measure:
    """The mean of the datasets' means, with an interval. The interval comes from resampling the queries
    within each dataset and averaging the resampled means; the datasets themselves are taken as given. The
    interval is None if a row's values per query are missing, or if they do not give the row's mean."""
    mean = round(float(np.mean([row.measures[label].mean for row in rows])), bootstrap.DECIMALS)
    queries = [row.measures[label].queries for row in rows]
    total = None if None in queries else sum(count or 0 for count in queries)
    columns = [_columns(label, row_values) for row_values in values]
    if any(column is None for column in columns):
        return Measure(mean, None, total)
    resampled = np.zeros(bootstrap.RESAMPLES)
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        assert column is not None
        whole = column.sum(axis=0)
        if not len(column) or abs(_ratio(whole[None])[0] - row.measures[label].mean) > APART:
            return Measure(mean, None, total)
        resampled += _ratio(bootstrap.resampled(column, seed + place)) / len(rows)
    low, high = np.quantile(resampled, (0.025, 0.975))
    ends = (round(float(low), bootstrap.DECIMALS), round(float(high), bootstrap.DECIMALS))
    return Measure(mean, ends, total)


def _columns(label: str, row_values: PerQuery | None) -> NDArray[np.float64] | None:
    """float64[Q, 2]: the numerator and the denominator of each query; None if no values are kept."""
    if row_values is None:
        return None
    parts = [row_values.columns.get(label + part) for part in PARTS]
    if parts[0] is None or parts[1] is None:
        values = row_values.values(label)
        if values is None:
            return None
        parts = [values, np.ones(len(values))]
    return np.stack([bootstrap.exact(part) for part in parts if part is not None], axis=1)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[R]: the first column of `sums` (float64[R, 2]) by the second, 0 where that is 0."""
    part, whole = sums[:, 0], sums[:, 1]
    return np.divide(part, whole, out=np.zeros(len(sums)), where=whole != 0)


def with_seeds(board: Leaderboard) -> Leaderboard:
    """The leaderboard with the means of its recipes over seeds among its analyses."""
    others = tuple(item for item in board.data.analyses or () if not item.name.startswith(SEEDS))
    made = tuple(seed_findings(board))
    if not made and others == tuple(board.data.analyses or ()):
        return board
    return Leaderboard(structs.replace(board.data, analyses=(*others, *made)), board.folder)


def seed_findings(board: Leaderboard) -> Iterator[Finding]:
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
                    rows.append((recipe, label, *_over_seeds(np.stack(matrix), is_sum(column.measure))))
        if rows:
            yield Finding(
                name=f"{SEEDS}{dataset.name}", title=f"Means over seeds: {dataset.name}", kind="table",
                columns=SEED_COLUMNS, rows=tuple(rows), dataset=dataset.name, says=SEED_NOTE,
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


def _over_seeds(values: NDArray[np.float64], sums: bool) -> tuple[int | float, ...]:
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


def seed_tables(board: Leaderboard) -> list[Table]:
    """The tables of means over seeds for people: one line for each recipe, one column for each measure."""
    shown, datasets = [], {dataset.name for dataset in board.data.datasets}
    for finding in board.data.analyses or ():
        if not finding.name.startswith(SEEDS) or finding.dataset not in datasets:
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
