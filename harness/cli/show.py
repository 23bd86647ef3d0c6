"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness.errors import HarnessError
from harness.leaderboard import board_file, published, text_tables
from harness.problems import shown_path


def show(options: argparse.Namespace) -> int:
    board = published.beside(
        board_file.read(options.leaderboard), [board_file.read(path) for path in options.beside]
    )
    try:
        text = text_tables.render(board, options.format)
    except (KeyError, TypeError, ValueError) as error:  # its open parts may hold anything
        what = (
            f"{shown_path(options.leaderboard)}: holds what no run writes ({type(error).__name__}: {error})"
        )
        raise HarnessError(f"{what}; make it again") from error
    print(text, end="")
    return 0
