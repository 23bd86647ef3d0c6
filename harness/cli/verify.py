"""`harness verify`: a leaderboard's numbers computed again from its runs and judgements."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from harness import api, catalogue
from harness.execution import progress
from harness.leaderboard import board_file
from harness.store.artifacts import Store
from harness.verify import WORDS, verify


def run(options: argparse.Namespace) -> int:
    """0 nothing speaks against it, 1 something is wrong, 2 what is needed to tell is not here."""
    board = board_file.read(options.leaderboard)
    store = Store(options.store or api.default_store()).open()
    reporter = progress.reporter(sys.stderr)
    try:
        found = verify(board, store, catalogue.load(), reporter, options.suite)
    finally:
        reporter.close()
    for row in found.rows:
        print(f"{row.mark:9}  {row.dataset} / {row.system}")
        for finding in row.findings:
            print(f"           - {finding}")
    for finding in found.findings:
        print(f"wrong: {finding}")
    for need in found.needs:
        print(f"not here: {need}")
    print()
    for mark, count in Counter(row.mark for row in found.rows).items():
        print(f"{count} {mark}: {WORDS[mark]}")
    return found.exit_code
