"""Reads the lines of users' text files, and checks the words that are written into TREC files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import HarnessError


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file, which may be gzipped. A byte order mark at the start is dropped.
    Raises HarnessError if the file cannot be read."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path}:{number}: {error.reason} in UTF-8; save the file as UTF-8") from None
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file; check the path") from None
    except (EOFError, zlib.error, OSError) as error:
        raise HarnessError(f"{path}:{number + 1}: {error}; check the file") from None


def check_words(words: Sequence[str], what: str) -> None:
    """Raises HarnessError if a word is empty or holds white space, as TREC lines are split there."""
    if all(words) and (not words or (joined := "".join(words)).split() == [joined]):
        return
    bad = next(word for word in words if word.split() != [word])
    raise HarnessError(
        f"the {what} {bad!r} is empty or has white space in it, which no TREC run can hold; rename it"
    )
