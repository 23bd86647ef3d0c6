"""What several commands share: arguments with their types, and how text is printed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import printable

if TYPE_CHECKING:
    from harness.store.artifacts import Store
    from harness.suite.changes import Changes

COMMA = re.compile(r",(?![^(]*\))")  # not in brackets


def store(command: argparse.ArgumentParser) -> None:
    text = "where artifacts are kept (default: of a leaderboard, its store if it is here; the user's cache)"
    command.add_argument("--store", type=Path, metavar="DIR", help=text)


def store_of(folder: Path, chosen: Path | None) -> Store:
    """The store that is given; otherwise the store with which the leaderboard in this folder was made, if it
    still exists; otherwise the user's store."""
    from harness import user_cache
    from harness.leaderboard import hints
    from harness.store.artifacts import Store

    return Store(chosen or hints.store_of(folder) or user_cache.default_store()).open()


def width() -> int | None:
    """The width of the terminal in columns; None if the output is a file or a pipe."""
    import shutil

    return shutil.get_terminal_size((0, 0)).columns or None


def say(text: str = "", end: str = "\n", form: str = "table") -> None:
    """Print text for people: control characters that come from data are escaped, so that they cannot steer a
    terminal. JSON and CSV are for programs and are printed as they are."""
    print(text if form in ("json", "csv") else printable(text), end=end)


def remote(command: argparse.ArgumentParser) -> None:
    text = "share finished artifacts through this address (default: the variable HARNESS_REMOTE)"
    command.add_argument("--remote", metavar="ADDRESS", help=text)


def changes(command: argparse.ArgumentParser) -> None:
    text = "set a value of the suite, as systems.bm25.retriever.bm25.k1=1.2 (may be repeated)"
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help=text)
    limit = "a trial: only N queries of each dataset; not comparable with a full run"
    command.add_argument("--limit", type=count, metavar="N", help=limit)
    sample = "a trial: only about N passages of each dataset, beside the documents with judged ones"
    command.add_argument("--sample", type=count, metavar="N", help=sample)


def changes_of(options: argparse.Namespace) -> Changes:
    from harness.suite.changes import Changes

    return Changes(tuple(options.set), options.limit, options.sample)


def leaderboard(command: argparse.ArgumentParser) -> None:
    command.add_argument("leaderboard", type=Path, metavar="LEADERBOARD", help="its JSON file or folder")


def leaderboards(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "leaderboards", type=Path, nargs="+", metavar="LEADERBOARD", help="a JSON file or folder each"
    )


def out(command: argparse.ArgumentParser, help: str = "where the leaderboard goes") -> None:
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help=help)


def beside(command: argparse.ArgumentParser) -> None:
    text = "add the published rows of this leaderboard, where it has the same datasets; may be repeated"
    command.add_argument("--beside", type=Path, action="append", default=[], metavar="PUBLISHED", help=text)


def measures_in(words: Sequence[str]) -> list[str]:
    """The measures of a command, whether they stand between blanks or between commas; a comma in brackets
    belongs to its measure."""
    return [name for word in words for part in COMMA.split(word) if (name := part.strip())]


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 18 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got '{text}'")
    return int(text)


def days(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of days from 0, got '{text}'")
    return value


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got '{text}'")
    return value
