"""Reads the tables of the release: a header, then tab-separated columns without quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.toolkit.files.reading import chunks, lines_of, refuse, text_of

PASSAGES = ("pid", "text")
QUERIES = ("qid", "text")
POSITIVES = ("qid", "pid")
GRADES = ("qid", "-", "pid", "rel")


class Row(NamedTuple):
    line: int
    columns: list[str]


def table(path: Path, header: Sequence[str]) -> Iterator[list[Row]]:
    """The rows below the header, in blocks. Each row has the header's columns. An empty id is refused, and an
    empty text is not."""
    below = False
    for first, chunk in chunks(path):
        rows = []
        for number, line in lines_of(first, chunk):
            columns = text_of(path, number, line).split("\t")
            if not below:
                _check_header(path, number, columns, header)
                below = True
                continue
            if len(columns) != len(header):
                wanted = f"{len(header)} columns between tabs ({', '.join(header)})"
                refuse(path, number, f"expected {wanted}, got {len(columns)}; correct the line")
            if columns[0] == header[0]:
                refuse(path, number, "the header is there again; drop this line")
            if not columns[0]:
                refuse(path, number, f"'{header[0]}' is empty; give every row an id")
            rows.append(Row(number, columns))
        if rows:
            yield rows
    if not below:
        refuse(path, 1, "there are only blank lines in it; copy it again")


def _check_header(path: Path, line: int, columns: list[str], header: Sequence[str]) -> None:
    if columns == list(header):
        return
    wanted = ", ".join(header) + " between tabs"
    if columns[0].isdecimal():  # an id, because all ids of the release are numbers
        refuse(path, line, f"the header is missing; begin the file with: {wanted}")
    refuse(path, line, f"the header must be: {wanted}; take the file for this role, or mend it")
