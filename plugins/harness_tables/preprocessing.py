"""What context costs before the first search: its speed in words a second, and the hours for a corpus."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from harness.plugin import HarnessError
from harness.toolkit import boards, commands
from harness.toolkit.boards import ContextCost, Leaderboard, Row, Table

COMPOSITE = ("combine", "pick", "rerank")


def arguments(command: argparse.ArgumentParser) -> None:
    commands.leaderboard(command)
    command.add_argument("--words", type=_words, metavar="N", help="project to a corpus of N words")
    command.add_argument("--format", choices=("table", "markdown"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    board = boards.read(options.leaderboard)
    shown = tables(board, options.words)
    if not shown:
        raise HarnessError(f"{board.data.name}: no row has the cost of a context; run a system with one")
    commands.say(boards.of_tables(shown, options.format), end="")
    return 0


def _words(text: str) -> float:
    try:
        words = float(text.replace(",", ""))
    except ValueError:
        words = 0.0
    if not 0 < words < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of words, as 1.8e9, got '{text}'")
    return words


def tables(board: Leaderboard, words: float | None) -> list[Table]:
    """One table for each dataset, like table 6 of DAPR: the retrievers without and with each context, the
    measured speed of the context, the hours that `words` take at that speed, and the first measure. If
    `words` is None, the words of the dataset itself count."""
    shown = []
    for dataset in board.data.datasets:
        rows = [row for row in board.rows_of(dataset.name) if _is_single(row)]
        if not any(row.cost.contexts for row in rows):
            continue
        label = next(label for label in board.columns if any(label in row.measures for row in rows))
        size = "its own words" if words is None else f"{words:,.0f} words"
        head = ("system", "context", "words a second", f"hours for {size}", label)
        lines = [line for row in rows if label in row.measures for line in _lines(row, words, label)]
        shown.append(Table(f"{dataset.name}: the cost of context", head, tuple(lines)))
    return shown


def _is_single(row: Row) -> bool:
    kinds = {step.step for step in row.provenance.steps}
    return row.status == "ok" and bool(kinds) and kinds.isdisjoint(COMPOSITE)


def _lines(row: Row, words: float | None, label: str) -> Iterator[tuple[str, ...]]:
    score = f"{row.measures[label].mean:.4f}"
    if not row.cost.contexts:
        yield row.system, "", "", "", score
    for name, spent in (row.cost.contexts or {}).items():
        yield row.system, name, f"{spent.words_per_second:,.1f}", _hours(spent, words), score


def _hours(spent: ContextCost, words: float | None) -> str:
    if words is None:
        return f"{spent.seconds / 3600:.4g}"
    return f"{words / spent.words_per_second / 3600:.4g}" if spent.words_per_second else ""
