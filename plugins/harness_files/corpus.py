"""Reads the passages of a JSONL, TSV, CSV or Parquet file as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import chunks, lines, lines_of, refuse, text_of
from harness.toolkit.files.rows import batch
from harness_files import tables
from harness_files.headers import refuse_header
from harness_files.topics import unquoted

KEYS = Keys(
    ("_id", "text"),
    {
        "_id": ("str",),
        "text": ("str",),
        "title": ("str", "NoneType"),
        "doc_id": ("str", "NoneType"),
        "paragraph_no": ("int", "NoneType"),
        "is_candidate": ("bool", "NoneType"),
    },
)
TEVATRON = Keys(("docid", "text"), {"docid": ("str",), "text": ("str",), "title": ("str", "NoneType")})
PYSERINI = Keys(("id", "contents"), {"id": ("str",), "contents": ("str",), "title": ("str", "NoneType")})
DPR_HEADER = b"id\ttext\ttitle"  # the header of psgs_w100.tsv, whose columns may be quoted
_NO_TEXT = "check what wrote it (scanned pages of a PDF give no text), or copy the file again"
Place = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _Plain(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    id: str = msgspec.field(name="_id")
    text: str
    title: str | None = ""


class _Full(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="_id")
    text: str
    title: str | None = ""
    doc_id: str | None = None
    paragraph_no: Place | None = None
    is_candidate: bool | None = None


class _Tevatron(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="docid")
    text: str
    title: str | None = ""


class _Pyserini(msgspec.Struct, gc=False):
    id: str
    text: str = msgspec.field(name="contents")
    title: str | None = ""


def rows(path: Path, format: str) -> Iterator[pa.RecordBatch]:
    """The passages of the file as batches of the schema harness.collection.corpus.ROWS."""
    if format == "table":
        yield from tables.passages(path)
        return
    total = 0
    if path.is_file() and not path.stat().st_size:
        refuse(path, 1, f"the file is empty; {_NO_TEXT}")
    for columns in _json_rows(path) if format == "jsonl" else _tsv_rows(path):
        total += columns.num_rows
        yield columns
    if not total:
        refuse(path, 1, f"there is no passage in it, only blank lines; {_NO_TEXT}")


def line_of(path: Path, row: int) -> int:
    """The number of the line that holds `row`, where rows are counted from 0. Reads up to that line."""
    if tables.is_table(path):
        return tables.line_of(path, row)
    header = _first_line(path) == DPR_HEADER
    for index, (number, _) in enumerate(lines(path)):
        if index == row + header:
            return number
    raise IndexError(f"{path} has no row {row}")


def _json_rows(path: Path) -> Iterator[pa.RecordBatch]:
    first = _first_line(path)
    records: Records[Any] = Records(path, (_Plain, _Full), KEYS)
    if b'"_id"' not in first:
        if b'"docid"' in first:
            records = Records(path, (_Tevatron,), TEVATRON)
        elif b'"contents"' in first:
            records = Records(path, (_Pyserini,), PYSERINI)
    return map(_batch, records)  # unlike a loop, it frees a chunk's strings before the next is decoded


def _batch(rows: Sequence[Any]) -> pa.RecordBatch:
    ids, texts = [row.id for row in rows], [row.text for row in rows]
    titles = [row.title for row in rows]
    if not rows or not isinstance(rows[0], _Full):
        return batch(ids, texts, titles=titles)
    return batch(
        ids,
        texts,
        titles=titles,
        documents=[row.doc_id for row in rows],
        candidates=[row.is_candidate for row in rows],
        places=[row.paragraph_no for row in rows],
    )


def _tsv_rows(path: Path) -> Iterator[pa.RecordBatch]:
    width = 0  # the number of columns of the first line, and thus of all lines
    dpr = _first_line(path) == DPR_HEADER
    for first, chunk in chunks(path):
        rows = []
        for number, line in lines_of(first, chunk):
            if dpr and line == DPR_HEADER and not width:
                width = 3
                continue
            columns = text_of(path, number, line).split("\t")
            if not width:
                refuse_header(path, number, columns)
            width = width or len(columns)
            if width not in (2, 3) or len(columns) != width:
                wanted = str(width) if width in (2, 3) else "2 (id, text) or 3 (id, title, text)"
                refuse(
                    path,
                    number,
                    f"expected {wanted} columns between tabs, got {len(columns)}; correct the line",
                )
            rows.append(_dpr_columns(path, number, columns) if dpr else columns)
        if rows:
            ids, *titles, texts = zip(*rows, strict=True)
            yield batch(ids, texts, titles=titles[0] if titles else None)


def _dpr_columns(path: Path, number: int, columns: Sequence[str]) -> tuple[str, str, str]:
    """The id, title and text of a line of DPR, whose columns are id, text and title."""
    for column in columns:
        if column.startswith('"') and (len(column) == 1 or not column.endswith('"')):
            refuse(path, number, "a quoted column does not end in this line; write a passage on one line")
    id, text, title = (unquoted(column) for column in columns)
    return id, title, text


def _first_line(path: Path) -> bytes:
    return next((line for _, line in lines(path)), b"")
