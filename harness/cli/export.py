"""`harness export`: writes a leaderboard in the forms of other tools."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared
from harness.cli.kinds import EXPORTS


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=export)
    shared.leaderboard(command)
    command.add_argument("--form", choices=EXPORTS, required=True, help="what to write")
    shared.out(command, "where it goes")
    shared.store(command)


def export(options: argparse.Namespace) -> int:
    from harness.exchange import export
    from harness.leaderboard import board_file
    from harness.problems import shown_path

    board = board_file.read(options.leaderboard)
    store = shared.store_of(board.folder, options.store)
    written = export(board, options.form, options.out, store)
    for note in written.notes:
        shared.say(f"note: {note}")
    shared.say(f"{len(written.paths)} files: {shown_path(options.out.absolute())}")
    return 0
