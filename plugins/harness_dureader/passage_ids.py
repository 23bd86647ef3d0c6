"""Reads passage2id.map.json, one object {"0": "id of row 0", ...} with millions of keys, in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from harness.toolkit.files.reading import pieces, refuse

_PAIRS = re.compile(rb'(?:\s*"\d{1,18}"\s*:\s*"[^"\\]+"\s*,)*+')  # possessive: no backtracking
_SEGMENT = 1 << 20  # bytes
_LONGEST = 1 << 12  # bytes of a pair: what is longer is no pair


def passage_ids(path: Path) -> pa.ChunkedArray:
    """string[N]: the passage id of each row of the collection. The file must list each of the rows 0 to N - 1
    once, in any order."""
    rows, ids = [], []
    for line, segment in _segments(path):
        quoted = segment.split(b'"')  # rows are at 1, 5, ..., ids at 3, 7, ..., as no quote is escaped
        rows.append(np.array(quoted[1::4], dtype="S18").astype(np.int64))
        try:
            ids.append(pa.array(quoted[3::4], pa.binary()).cast(pa.string()))
        except pa.ArrowInvalid:
            refuse(path, line, "an id is not valid UTF-8; copy the file again")
    if not rows:
        refuse(path, 1, "there is no passage id in it; copy the file again")
    order = np.concatenate(rows)
    named = pa.chunked_array(ids)
    if (order == np.arange(len(order))).all():
        return named
    by_row = np.argsort(order, kind="stable")
    wrong = np.flatnonzero(order[by_row] != np.arange(len(order)))
    if len(wrong):
        row = int(wrong[0])
        what = "twice" if int(order[by_row[row]]) < row else "not there, though later ones are"
        row = min(row, int(order[by_row[row]]))
        refuse(path, 1, f"row {row} is {what}; every row of the collection needs one passage id")
    return pc.take(named, pa.array(by_row))


def _segments(path: Path) -> Iterator[tuple[int, bytes]]:
    """The file in blocks, each with the line on which it begins. Blocks end at pairs' commas."""
    line, rest, opened = 1, b"", False
    for piece in _bigger(pieces(path)):
        rest += piece
        if not opened:
            rest, opened = _without_brace(path, rest), True
        end = _end_of_pairs(rest)
        if end:
            yield line, rest[:end]
            line += rest.count(b"\n", 0, end)
            rest = rest[end:]
        if len(rest) > _LONGEST:
            _refuse_pair(path, line, rest)
    rest = rest.rstrip()
    if not rest.endswith(b"}"):
        where = line + rest.count(b"\n")
        refuse(path, where, "the object does not end with a brace; the file was cut, copy it again")
    if rest[:-1].strip():
        rest = rest[:-1] + b","
        end = _end_of_pairs(rest)
        if end != len(rest):
            _refuse_pair(path, line + rest.count(b"\n", 0, end), rest[end:])
        yield line, rest


def _bigger(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= _SEGMENT:
            yield b"".join(held)
            held = []
    yield b"".join(held)


def _without_brace(path: Path, start: bytes) -> bytes:
    start = start.lstrip()
    if not start.startswith(b"{"):
        refuse(path, 1, 'expected a JSON object {"0": "passage id", ...}; copy the file again')
    return start[1:]


def _end_of_pairs(data: bytes) -> int:
    match = _PAIRS.match(data)
    assert match is not None  # the pattern also matches the empty string
    return match.end()


def _refuse_pair(path: Path, line: int, wrong: bytes) -> NoReturn:
    text = wrong.lstrip()
    line += wrong.count(b"\n", 0, len(wrong) - len(text))
    shown = text[:40].decode("utf-8", "replace")
    refuse(path, line, f'expected pairs like "0": "passage id", got {shown!r}; copy the file again')
