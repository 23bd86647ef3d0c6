"""Reads the judgements of a BEIR or TREC file, or of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.toolkit.files.reading import lines, refuse, text_of
from harness_files import tables

_GRADE = re.compile(rb"[+-]?[0-9]{1,10}")
_HEADER = "query-id, corpus-id, score"


class Judged(NamedTuple):
    line: int
    query: str
    passage: str
    grade: int


def judged(path: Path) -> Iterator[Judged]:
    """All judgements of the file, in order. Duplicates are refused."""
    seen: dict[str, dict[str, int]] = {}  # query -> passage -> line
    for number, query, passage, grade in tables.judgements(path) if tables.is_table(path) else _text(path):
        if not query or not passage:
            refuse(path, number, "an id is empty; give the query's and the passage's")
        before = seen.setdefault(query, {}).setdefault(passage, number)
        if before != number:
            what = f"query '{query}' and passage '{passage}' are already judged at line {before}; keep one"
            refuse(path, number, what)
        yield Judged(number, query, passage, grade)
    if not seen:
        refuse(path, 1, "there is no judgement in it; copy the file again")


def _text(path: Path) -> Iterator[tuple[int, str, str, int]]:
    """The line, query, passage and grade of each judgement in a text file. The first line decides the format:
    four columns separated by spaces (TREC: query, 0, passage, grade), or three columns separated by tabs
    below a header (BEIR)."""
    rows = lines(path)
    columns = 0
    for number, line in rows:
        if not columns:
            columns = 3 if line.count(b"\t") == 2 or line.startswith(b"query-id") else 4
            if columns == 3:
                if line.count(b"\t") != 2:
                    refuse(path, number, f"the header must be: {_HEADER} (between tabs); mend it")
                if _GRADE.fullmatch(line.split(b"\t")[2].strip()):
                    refuse(
                        path, number, f"the header is missing; begin the file with: {_HEADER} (between tabs)"
                    )
                continue
        fields = line.split(b"\t") if columns == 3 else line.split()
        if len(fields) != columns:
            wanted = (
                f"3 columns between tabs ({_HEADER})" if columns == 3 else "4 columns (query 0 passage grade)"
            )
            refuse(path, number, f"expected {wanted}, got {len(fields)}; correct the line")
        grade = fields[-1].strip()
        if not _GRADE.fullmatch(grade) or not -(2**31) <= int(grade) < 2**31:
            shown = text_of(path, number, grade)[:40]
            refuse(
                path, number, f"the grade must be a whole number of 32 bits, got '{shown}'; correct the line"
            )
        query, passage = text_of(path, number, fields[0]), text_of(path, number, fields[-2])
        yield number, query, passage, int(grade)
