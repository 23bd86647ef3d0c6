"""Reads the passages of part-00, part-01, ...: the third of four columns, with ids by the row's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from harness.toolkit.files.reading import chunks, every_line_of, refuse, text_of
from harness.toolkit.files.rows import batch
from harness_dureader.passage_ids import passage_ids

_COLUMNS = "query, title, text, label"


def rows(parts: Sequence[Path], ids: Path) -> Iterator[pa.RecordBatch]:
    """The passages as batches of the schema harness.collection.corpus.ROWS. All parts have a row an id."""
    named = passage_ids(ids)
    done = 0
    for part in parts:
        for first, chunk in chunks(part):
            texts = [_text(part, number, line) for number, line in every_line_of(first, chunk)]
            if done + len(texts) > len(named):
                extra = first + len(named) - done
                refuse(part, extra, f"{ids} names only {len(named)} rows; take both from one release")
            yield batch(named.slice(done, len(texts)).to_pylist(), texts)
            done += len(texts)
    if done < len(named):
        where = ", ".join(part.name for part in parts)
        what = f"it names {len(named)} rows, but {where} have {done}"
        refuse(ids, 1, f"{what}; put every part of the release beside it")


def line_of(parts: Sequence[Path], row: int) -> str:
    """The place of a row as `file:line`. Rows are counted from 0 over all parts. Reads up to that row."""
    for part in parts:
        for first, chunk in chunks(part):
            lines = bytes(chunk).count(b"\n") + (bytes(chunk[-1:]) != b"\n")
            if row < lines:
                return f"{part}:{first + row}"
            row -= lines
    raise IndexError(f"there is no row {row} after the last part")


def _text(path: Path, number: int, line: bytes) -> str:
    columns = text_of(path, number, line).split("\t")
    if len(columns) != 4:
        refuse(
            path,
            number,
            f"expected 4 columns between tabs ({_COLUMNS}), got {len(columns)}; correct the line",
        )
    return columns[2]
