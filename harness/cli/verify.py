"""`harness verify`: computes the numbers of a leaderboard again, or has a plugin verify its folder."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from harness import catalogue
from harness.cli import arguments as shared
from harness.cli import plugin_commands
from harness.execution import progress
from harness.leaderboard import board_file
from harness.verify import WORDS, verify


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=run)
    shared.leaderboard(command)
    where = "where its datasets are described (default: as the leaderboard and verify.yaml beside it say)"
    command.add_argument("--suite", type=Path, metavar="SUITE", help=where)
    shared.store(command)


def run(options: argparse.Namespace) -> int:
    """Verifies. Returns 0 if nothing is wrong, 1 if something is, 2 if data for a check is missing."""
    for offer in plugin_commands.load().offers if options.leaderboard.is_dir() else ():
        if offer.marker and offer.verify and (options.leaderboard / offer.marker).is_file():
            return int(offer.function(offer.verify)(options.leaderboard))
    board = board_file.read(options.leaderboard)
    store = shared.store_of(board.folder, options.store)
    with progress.reporter(sys.stderr) as reporter:
        checked = verify(board, store, catalogue.load(), reporter, options.suite)
    for row in checked.rows:
        shared.say(f"{row.mark:9}  {row.dataset} / {row.system}")
        for finding in row.findings:
            shared.say(f"           - {finding}")
    for finding in checked.findings:
        shared.say(f"wrong: {finding}")
    for need in checked.needs:
        shared.say(f"not here: {need}")
    shared.say()
    for mark, count in Counter(row.mark for row in checked.rows).items():
        shared.say(f"{count} {mark}: {WORDS[mark]}")
    return checked.exit_code
