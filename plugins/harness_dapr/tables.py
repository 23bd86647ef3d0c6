"""Parquet and JSON lines files as batches of the columns that are wanted, with the line of every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from harness.toolkit.json_lines import Keys, Records
from harness.toolkit.reading import opened, refuse

_TEXTS = pa.list_(pa.string())
_PYTHON: dict[pa.DataType, Any] = {pa.string(): str, pa.int32(): int, pa.bool_(): bool, _TEXTS: list[str]}
_WORDS = {
    pa.string(): "texts in UTF-8",
    pa.int32(): "whole numbers",
    pa.bool_(): "true or false",
    _TEXTS: "lists of texts",
}


class Column(NamedTuple):
    name: str
    type: pa.DataType
    required: bool = True  # one that is not may be missing, and null in any row


class Part(NamedTuple):
    lines: Sequence[int]  # of each row; in a Parquet file its number, from 1
    batch: pa.RecordBatch


def parts(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    """All rows, some at a time; a file without rows is refused."""
    some = False
    for part in _parquet(path, columns) if path.suffix == ".parquet" else _json_lines(path, columns):
        some = some or part.batch.num_rows > 0
        yield part
    if not some:
        refuse(path, 1, "there is no row in it; copy the file again")


def rows(path: Path, columns: Sequence[Column]) -> Iterator[tuple[int, dict[str, Any]]]:
    for part in parts(path, columns):
        yield from zip(part.lines, part.batch.to_pylist(), strict=True)


def _parquet(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    row = 1
    with opened(path) as file:
        try:
            table = pq.ParquetFile(file)
            present = set(table.schema_arrow.names)
            for column in columns:
                if column.required and column.name not in present:
                    refuse(path, 1, f"the column '{column.name}' is missing; copy the file again")
            names = [column.name for column in columns if column.name in present]
            for found in table.iter_batches(batch_size=8192, columns=names):
                lines = range(row, row + found.num_rows)
                yield Part(lines, _cast(path, row, found, columns))
                row = lines.stop
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the system, not of the data
            what = (
                "this is not a whole Parquet file"
                if row == 1
                else "the data is damaged, at or after this row"
            )
            refuse(path, row, f"{what}; copy the file again")


def _cast(path: Path, row: int, found: pa.RecordBatch, columns: Sequence[Column]) -> pa.RecordBatch:
    arrays = []
    for column in columns:
        if column.name not in found.schema.names:
            arrays.append(pa.nulls(found.num_rows, column.type))
            continue
        array = found.column(column.name)
        try:
            arrays.append(array.cast(column.type))
            arrays[-1].validate(full=True)  # Parquet does not check that its texts are UTF-8
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            what = f"the column '{column.name}' has values that are no {_WORDS[column.type]} ({array.type})"
            refuse(path, row, f"{what}; copy the file again")
        if column.required and array.null_count:
            first = array.is_null().index(True).as_py()
            refuse(path, row + first, f"'{column.name}' is null; every row needs it")
    return pa.RecordBatch.from_arrays(arrays, schema=_schema(columns))


def _json_lines(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    needed: list[Any] = [(name, _PYTHON[type]) for name, type, required in columns if required]
    others: list[Any] = [
        (name, _PYTHON[type] | None, None) for name, type, required in columns if not required
    ]
    kind = msgspec.defstruct("Row", [*needed, *others], gc=False)
    kinds = {name: (_named(type), *(() if required else ("NoneType",))) for name, type, required in columns}
    records: Records[Any] = Records(path, (kind,), Keys(tuple(name for name, _ in needed), kinds))
    for lines, found in records.with_lines():
        try:
            arrays = [pa.array([getattr(row, name) for row in found], type) for name, type, _ in columns]
        except (pa.ArrowInvalid, OverflowError):
            refuse(path, lines[0], "at or after this line a number has more than 32 bits; mend it")
        yield Part(lines, pa.RecordBatch.from_arrays(arrays, schema=_schema(columns)))


def _named(type: pa.DataType) -> str:
    return "list" if type == _TEXTS else str(_PYTHON[type].__name__)


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([(name, type) for name, type, _ in columns])
