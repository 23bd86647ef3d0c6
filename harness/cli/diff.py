"""`harness diff`: what was changed between two leaderboards, and how the means of each row changed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from harness.cli import arguments as shared

FORMATS = ("table", "markdown", "json")


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    for name, text in (("before", "a leaderboard's JSON file or folder"), ("after", "the later one")):
        command.add_argument(name, type=Path, metavar=name.upper(), help=text)
    for what in ("dataset", "measure", "system"):
        text = f"only the {what}s that match (may be repeated)"
        command.add_argument(f"--{what}", action="append", default=[], metavar="GLOB", help=text)
    every = "a table for every measure, not for the first one of each dataset"
    command.add_argument("--every", action="store_true", help=every)
    command.add_argument("--format", choices=FORMATS, default="table")


def run(options: argparse.Namespace) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in `harness compare`
    from harness.compare.data import Filters
    from harness.compare.diff import diff
    from harness.compare.diff_text import render

    filters = Filters(tuple(options.dataset), tuple(options.measure), tuple(options.system))
    text = render(diff((options.before, options.after), filters), options.format, options.every)
    shared.say(text, end="", form=options.format)
    return 0
