"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness import leaderboard, report


def show(options: argparse.Namespace) -> int:
    print(report.render(leaderboard.read(options.leaderboard), options.format), end="")
    return 0
