"""`harness show`: prints a leaderboard as a table, Markdown, CSV or JSON, selected, sorted and marked."""

from __future__ import annotations

import argparse
import os

from harness.cli import arguments as shared
from harness.errors import HarnessError

FORMATS = ("table", "markdown", "csv", "json")  # the others are of commands of plugins


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=show)
    shared.leaderboard(command)
    form = f"{', '.join(FORMATS)}, or what a plugin's command prints, as latex and typst of `harness table`"
    command.add_argument("--format", metavar="FORM", default="table", help=form)
    command.add_argument("--sort", metavar="MEASURE", help="the best system by this measure first")
    for what in ("dataset", "measure"):
        text = f"only the {what}s that match (may be repeated)"
        command.add_argument(f"--{what}", action="append", default=[], metavar="GLOB", help=text)
    overall = "instead a table a measure: all datasets side by side, with ranks, their mean and the mean"
    command.add_argument("--overall", action="store_true", help=overall)
    baseline = "mark what is significantly better (†) or worse (‡) than this system"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    shared.beside(command)


def show(options: argparse.Namespace) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `harness compare`
    from harness.leaderboard import board_file, means, overall, published, selection, text_tables

    _check(options)
    if options.format not in FORMATS:
        return _of_plugin(options)
    board = board_file.read(options.leaderboard)
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
    from harness.compare import Settings, marks
    from harness.compare.data import Filters

    filters = Filters(tuple(options.dataset), tuple(options.measure))
    marked = marks.of(options.leaderboard, Settings("baseline", options.baseline), filters)
    shared.say(text_tables.render(board, options.format, marked.marks))
    shared.say(marked.note)
    return 0


def _of_plugin(options: argparse.Namespace) -> int:
    """Prints a form that a command of a plugin has, by that command."""
    from harness.cli import plugin_commands

    words = [str(options.leaderboard), f"--format={options.format}"]
    for name in ("sort", "dataset", "measure", "baseline", "beside"):
        given = getattr(options, name)
        words += [f"--{name}={value}" for value in (given if isinstance(given, list) else [given]) if value]
    return plugin_commands.load().run_form("formats", options.format, FORMATS, words)


def _check(options: argparse.Namespace) -> None:
    """Raises HarnessError for options that cannot be combined."""
    data = options.format in ("csv", "json")
    if options.format not in FORMATS and options.overall:
        raise HarnessError(f"--format {options.format}: has no --overall; leave it out")
    if options.overall and (options.baseline is not None or options.sort is not None):
        raise HarnessError("--overall: is sorted by each measure's mean; leave out --sort and --baseline")
    if options.baseline is not None and data:
        raise HarnessError("--baseline: marks tables only; `harness compare --format json` has the numbers")
