"""`harness merge`: rows of several machines in one leaderboard."""

from __future__ import annotations

import argparse

from harness.leaderboard.merge import merge
from harness.problems import shown_path


def run(options: argparse.Namespace) -> int:
    merged = merge(options.leaderboards, options.out, options.drop, options.rename)
    for note in merged.notes:
        print(f"note: {note}")
    rows = merged.board.rows
    failed = sum(row.status == "failed" for row in rows)
    told = f", {failed} of them failed" if failed else ""
    print(f"{len(rows)} rows{told}: {shown_path(merged.path.absolute())}")
    return 1 if failed else 0
