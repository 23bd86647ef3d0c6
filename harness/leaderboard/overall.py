"""Systems over all datasets of a leaderboard: their means and ranks, and the averages of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.text_tables import Table, shown_name


class Overall(NamedTuple):
    """One system in one column. `mean` and `rank` are averages over all datasets, and None for a system that
    lacks a dataset."""

    system: str
    means: dict[str, float]  # dataset -> mean, of the datasets that the system has
    ranks: dict[str, int]  # dataset -> 1 for the best; equal means share the better rank
    mean: float | None
    rank: float | None


def overall(board: Leaderboard, label: str) -> list[Overall]:
    """The systems of a column. Systems with a row on every dataset come first, the best mean first; only they
    are ranked, so that their ranks can be averaged. The others follow in the leaderboard's order."""
    splits = {item.name: item.split for item in board.data.datasets}
    by_system: dict[str, dict[str, float]] = {}
    for row in board.rows:
        if label in row.measures:
            by_system.setdefault(shown_name(row, splits[row.dataset]), {})[row.dataset] = row.measures[
                label
            ].mean
    datasets = [item.name for item in board.data.datasets if any(item.name in x for x in by_system.values())]
    complete = {name: means for name, means in by_system.items() if len(means) == len(datasets)}
    ranks = {name: _ranks(name, complete, datasets) for name in complete}
    lines = [
        Overall(
            name, means, ranks[name], sum(means.values()) / len(datasets),
            sum(ranks[name].values()) / len(datasets),
        )
        for name, means in complete.items()
    ]  # fmt: skip
    lines.sort(key=lambda line: -(line.mean or 0.0))
    return lines + [Overall(name, x, {}, None, None) for name, x in by_system.items() if name not in complete]


def tables(board: Leaderboard) -> list[Table]:
    """A table for each column of two or more datasets: the mean on each, with the rank in brackets."""
    shown = []
    for label in board.columns:
        lines = overall(board, label)
        datasets = [
            item.name for item in board.data.datasets if any(item.name in line.means for line in lines)
        ]
        if len(datasets) > 1:
            rows = tuple(_cells(line, datasets) for line in lines)
            title = f"{label} over {len(datasets)} datasets (ranks in brackets)"
            shown.append(Table(title, ("system", *datasets, "mean", "mean rank"), rows))
    return shown


def _ranks(name: str, complete: Mapping[str, Mapping[str, float]], datasets: Sequence[str]) -> dict[str, int]:
    return {
        dataset: 1 + sum(other[dataset] > complete[name][dataset] for other in complete.values())
        for dataset in datasets
    }


def _cells(line: Overall, datasets: Sequence[str]) -> tuple[str, ...]:
    cells = [line.system]
    for dataset in datasets:
        rank = f" ({line.ranks[dataset]})" if dataset in line.ranks else "    " * bool(line.ranks)
        cells.append(f"{line.means[dataset]:.4f}{rank}" if dataset in line.means else "")
    cells.append("" if line.mean is None else f"{line.mean:.4f}")
    return (*cells, "" if line.rank is None else f"{line.rank:.2f}")
