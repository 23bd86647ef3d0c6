"""`harness export`: writes a leaderboard in the forms of other tools."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared
from harness.cli.kinds import EXPORTS


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=export)
    shared.leaderboard(command)
    form = f"what to write: {', '.join(EXPORTS)}, or what a plugin's command writes, as csv"
    command.add_argument("--form", metavar="FORM", required=True, help=form)
    shared.out(command, "where it goes")
    shared.store(command)


def export(options: argparse.Namespace) -> int:
    if options.form not in EXPORTS:
        from harness.cli import plugin_commands

        words = [str(options.leaderboard), f"--out={options.out}"]
        return plugin_commands.load().run_form("form", options.form, EXPORTS, words)
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
