"""`harness export`: a leaderboard in the forms of other tools."""

from __future__ import annotations

import argparse

from harness import api
from harness.exchange import export
from harness.leaderboard import board_file
from harness.problems import shown_path
from harness.store.artifacts import Store


def run(options: argparse.Namespace) -> int:
    board = board_file.read(options.leaderboard)
    store = Store(options.store or api.default_store()).open()
    written = export(board, options.form, options.out, store)
    for note in written.notes:
        print(f"note: {note}")
    print(f"{len(written.paths)} files: {shown_path(options.out.absolute())}")
    return 0
