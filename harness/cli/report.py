"""`harness report`: a leaderboard as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import catalogue, suite
from harness.cli import arguments as shared
from harness.errors import HarnessError
from harness.html import page, tiers
from harness.leaderboard import board_file, published
from harness.leaderboard.board_file import Leaderboard
from harness.problems import shown_path
from harness.store import disk

SUITE = "suite.yaml"


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=report)
    shared.leaderboard(command)
    out = "where it goes (default: report.html in its folder)"
    command.add_argument("--out", type=Path, metavar="FILE", help=out)
    no_text = "leave out all texts of queries and passages"
    command.add_argument("--no-text", action="store_true", help=no_text)
    shared.beside(command)
    shared.store(command)


def report(options: argparse.Namespace) -> int:
    board = published.beside(
        board_file.read(options.leaderboard), [board_file.read(path) for path in options.beside]
    )
    store = shared.store_of(board.folder, options.store)
    out: Path = options.out or board.folder / "report.html"
    tested = tiers.tiers(board, options.leaderboard)
    text = page.build(board, store, suite_text(board), tested, not options.no_text)
    with disk.explaining(out):
        page.write(out, text)
    print(f"report: {shown_path(out.absolute())} ({len(text.encode()) / 1e6:.1f} MB)")
    return 0


def suite_text(board: Leaderboard) -> str | None:
    """The text of the suite that made the leaderboard, if the suite is beside it and unchanged; else None."""
    path = board.folder / SUITE
    if not path.is_file():
        return None
    try:
        same = suite.load(path, catalogue.load()).digest == board.data.suite.digest
    except HarnessError:  # a suite of another version, or with missing plugins
        return None
    return path.read_text(encoding="utf-8") if same else None
