"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=show)
    shared.leaderboard(command)
    command.add_argument("--format", choices=("table", "markdown", "csv", "json"), default="table")
    shared.beside(command)
    command.add_argument(
        "--preprocessing", action="store_true", help="instead: what the context-augmenters cost"
    )
    command.add_argument(
        "--words", type=_words, metavar="N", help="with --preprocessing: project to a corpus of N words"
    )


def show(options: argparse.Namespace) -> int:
    from harness.errors import HarnessError
    from harness.leaderboard import board_file, preprocessing, published, text_tables

    if options.words is not None and not options.preprocessing:
        raise HarnessError("--words: goes with --preprocessing; add that, or leave --words out")
    board = board_file.read(options.leaderboard)
    if options.preprocessing:
        if options.beside or options.format not in ("table", "markdown"):
            raise HarnessError("--preprocessing: has no --beside, and the formats are table and markdown")
        tables = preprocessing.tables(board, options.words)
        if not tables:
            raise HarnessError(f"{board.data.name}: no row has the cost of a context; run a system with one")
        form = text_tables.plain if options.format == "table" else text_tables.titled
        print("\n".join(map(form, tables)), end="")
        return 0
    board = published.beside(board, [board_file.read(path) for path in options.beside])
    print(text_tables.render(board, options.format), end="")
    return 0


def _words(text: str) -> float:
    try:
        words = float(text.replace(",", ""))
    except ValueError:
        words = 0.0
    if not 0 < words < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of words, as 1.8e9, got '{text}'")
    return words
