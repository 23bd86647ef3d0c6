"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness import leaderboard, published, report
from harness.errors import HarnessError
from harness.yamlfile import shown_path


def show(options: argparse.Namespace) -> int:
    board = published.beside(
        leaderboard.read(options.leaderboard), [leaderboard.read(path) for path in options.beside]
    )
    try:
        text = report.render(board, options.format)
    except (KeyError, TypeError, ValueError) as error:  # its open parts may hold anything
        what = (
            f"{shown_path(options.leaderboard)}: holds what no run writes ({type(error).__name__}: {error})"
        )
        raise HarnessError(f"{what}; make it again") from error
    print(text, end="")
    return 0
