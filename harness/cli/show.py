"""`harness show`: prints a leaderboard as a table, Markdown, CSV or JSON, selected, sorted and marked."""

from __future__ import annotations

import argparse
import os

from harness.cli import arguments as shared
from harness.errors import HarnessError


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=show)
    shared.leaderboard(command)
    command.add_argument("--format", choices=("table", "markdown", "csv", "json"), default="table")
    command.add_argument("--sort", metavar="MEASURE", help="the best system by this measure first")
    for what in ("dataset", "measure"):
        text = f"only the {what}s that match (may be repeated)"
        command.add_argument(f"--{what}", action="append", default=[], metavar="GLOB", help=text)
    overall = "instead a table a measure: all datasets side by side, with ranks, their mean and the mean"
    command.add_argument("--overall", action="store_true", help=overall)
    baseline = "mark what is significantly better (+) or worse (-) than this system"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    shared.beside(command)
    command.add_argument(
        "--preprocessing", action="store_true", help="instead: what the context-augmenters cost"
    )
    command.add_argument(
        "--words", type=_words, metavar="N", help="with --preprocessing: project to a corpus of N words"
    )


def show(options: argparse.Namespace) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `harness compare`
    from harness.leaderboard import (
        board_file,
        means,
        overall,
        preprocessing,
        published,
        selection,
        text_tables,
    )

    _check(options)
    board = board_file.read(options.leaderboard)
    if options.preprocessing:
        tables = preprocessing.tables(board, options.words)
        if not tables:
            raise HarnessError(f"{board.data.name}: no row has the cost of a context; run a system with one")
        shared.say(text_tables.of_tables(tables, options.format), end="", form=options.format)
        return 0
    board = published.beside(board, [board_file.read(path) for path in options.beside])
    board = selection.selected(board, options.dataset, options.measure, options.sort)
    if options.overall:
        tables = overall.tables(board)
        if not tables:
            raise HarnessError("--overall: needs a measure that two datasets have; leave it out")
        shared.say(text_tables.of_tables(tables, options.format), end="", form=options.format)
        return 0
    if options.baseline is None:
        shared.say(text_tables.render(board, options.format), end="", form=options.format)
        if options.format in ("table", "markdown") and (seeds := means.seed_tables(board)):
            shared.say("\n" + text_tables.of_tables(seeds, options.format), end="")
        return 0
    from harness.compare import marks

    marked = marks.against(
        options.leaderboard, options.baseline, tuple(options.dataset), tuple(options.measure)
    )
    shared.say(text_tables.render(board, options.format, marked.marks))
    shared.say(marked.note)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Raises HarnessError for options that cannot be combined."""
    data = options.format in ("csv", "json")
    if options.words is not None and not options.preprocessing:
        raise HarnessError("--words: needs --preprocessing; add it, or leave --words out")
    if options.preprocessing and (options.beside or data):
        raise HarnessError(
            "--preprocessing: cannot be used with --beside, and only with the formats table and markdown"
        )
    if options.overall and (options.baseline is not None or options.sort is not None):
        raise HarnessError("--overall: is sorted by each measure's mean; leave out --sort and --baseline")
    if options.baseline is not None and data:
        raise HarnessError("--baseline: marks tables only; `harness compare --format json` has the numbers")


def _words(text: str) -> float:
    try:
        words = float(text.replace(",", ""))
    except ValueError:
        words = 0.0
    if not 0 < words < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of words, as 1.8e9, got '{text}'")
    return words
