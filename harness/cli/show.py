"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness.leaderboard import board_file, published, text_tables


def show(options: argparse.Namespace) -> int:
    board = published.beside(
        board_file.read(options.leaderboard), [board_file.read(path) for path in options.beside]
    )
    print(text_tables.render(board, options.format), end="")
    return 0
