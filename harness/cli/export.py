"""`harness export`: a leaderboard in the forms of other tools."""

from __future__ import annotations

import argparse

from harness import api, leaderboard
from harness.export import export
from harness.store import Store
from harness.yamlfile import shown_path


def run(options: argparse.Namespace) -> int:
    board = leaderboard.read(options.leaderboard)
    store = Store(options.store or api.default_store()).open()
    written = export(board, options.form, options.out, store)
    for note in written.notes:
        print(f"note: {note}")
    print(f"{len(written.paths)} files: {shown_path(options.out.absolute())}")
    return 0
