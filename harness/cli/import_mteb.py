"""`harness import-mteb`: makes a leaderboard of MTEB's task results."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from harness.cli import arguments as shared
from harness.cli.score import MEASURES
from harness.exchange import mteb_import
from harness.leaderboard import text_tables
from harness.problems import shown_path


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    results = "MODEL/REVISION/TASK.json files, or folders"
    command.add_argument("results", type=Path, nargs="+", metavar="RESULT", help=results)
    command.add_argument("--measures", nargs="+", metavar="MEASURE", help="default: nDCG@10 R@100")
    command.add_argument("--name", metavar="NAME", help="the leaderboard's (default: its folder's)")
    shared.out(command)


def run(options: argparse.Namespace) -> int:
    measures = shared.measures_in(options.measures or ()) or MEASURES
    board = mteb_import.board(
        options.results, measures, options.out, options.name or options.out.absolute().name
    )
    words = ["harness", "import-mteb", "RESULTS", "--measures", *measures, "--out", "DIR"]
    path = mteb_import.write(board, shlex.join(words))
    shared.say(text_tables.render(board, "table"))
    shared.say(f"leaderboard: {shown_path(path.absolute())}")
    return 0
