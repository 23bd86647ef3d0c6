"""`harness show`: a leaderboard as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=show)
    shared.leaderboard(command)
    command.add_argument("--format", choices=("table", "markdown", "csv", "json"), default="table")
    shared.beside(command)


def show(options: argparse.Namespace) -> int:
    from harness.leaderboard import board_file, published, text_tables

    board = published.beside(
        board_file.read(options.leaderboard), [board_file.read(path) for path in options.beside]
    )
    print(text_tables.render(board, options.format), end="")
    return 0
