"""`harness import-mteb`: makes a leaderboard of MTEB's task results."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from harness.plugin import shown_path
from harness.toolkit import boards, commands
from harness_forms import mteb_import

MEASURES = ("nDCG@10", "R@100")


def arguments(command: argparse.ArgumentParser) -> None:
    results = "MODEL/REVISION/TASK.json files, or folders"
    command.add_argument("results", type=Path, nargs="+", metavar="RESULT", help=results)
    command.add_argument("--measures", nargs="+", metavar="MEASURE", help="default: nDCG@10 R@100")
    command.add_argument("--name", metavar="NAME", help="the leaderboard's (default: its folder's)")
    commands.out(command)


def run(options: argparse.Namespace) -> int:
    measures = commands.measures_in(options.measures or ()) or MEASURES
    board = mteb_import.board(
        options.results, measures, options.out, options.name or options.out.absolute().name
    )
    words = ["harness", "import-mteb", "RESULTS", "--measures", *measures, "--out", "DIR"]
    path = mteb_import.write(board, shlex.join(words))
    commands.say(boards.render(board, "table"))
    commands.say(f"leaderboard: {shown_path(path.absolute())}")
    return 0
