"""Reads Parquet, JSON lines, CSV and TSV files as batches of the wanted columns, with line numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import Fault
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import bare
from harness.toolkit.files.reading import chunks, every_line_of, lines, lines_of, opened, refuse, text_of

_ROWS = 8192  # rows of a part
_TEXTS = pa.list_(pa.string())
_PYTHON: dict[pa.DataType, Any] = {
    pa.string(): str,
    pa.int32(): int | float,
    pa.bool_(): bool,
    _TEXTS: list[str],
}
_WORDS = {
    pa.string(): "texts in UTF-8",
    pa.int32(): "whole numbers",
    pa.bool_(): "true or false",
    _TEXTS: "lists of texts",
}
_KINDS = {  # Python types of JSON values; some files write whole numbers as 1.0
    pa.string(): ("str",),
    pa.int32(): ("int", "float"),
    pa.bool_(): ("bool",),
    _TEXTS: ("list",),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,10}")


class Column(NamedTuple):
    name: str
    type: pa.DataType
    required: bool = True  # if False, the column may be missing, and null in any row
    also: tuple[str, ...] = ()  # other names of the column in some files
    prose: bool = False  # a text to be read, not an id: a Parquet file may hold no whole numbers there
    joined: str | None = None  # a list of texts is read too, joined by this; null and no text are the same


class Part(NamedTuple):
    lines: Sequence[int]  # the line of each row; in a Parquet file the row's number, from 1
    batch: pa.RecordBatch


def parts(path: Path, columns: Sequence[Column], header: bool = True) -> Iterator[Part]:
    """Yields all rows of a file, some at a time, as batches of `columns` in that order and under these names.
    A file without rows is refused. Without `header`, a TSV file has just these columns, in their order."""
    read = {".parquet": _parquet, ".tsv": _tsv, ".csv": _csv}.get(bare(path).suffix, _json_lines)
    some = False
    for part in read(path, columns) if header or read is not _tsv else _tsv(path, columns, headed=False):
        some = some or part.batch.num_rows > 0
        yield part
    if not some:
        refuse(path, 1, "there is no row in it; check what wrote it, or copy the file again")


def rows(path: Path, columns: Sequence[Column]) -> Iterator[tuple[int, dict[str, Any]]]:
    for part in parts(path, columns):
        yield from zip(part.lines, part.batch.to_pylist(), strict=True)


def _parquet(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    row = 1
    with opened(path) as file:
        try:
            table = pq.ParquetFile(file)
            renamed = [_as_named(column, table.schema_arrow.names) for column in columns]
            present = set(table.schema_arrow.names)
            for column in renamed:
                if column.required and column.name not in present:
                    refuse(path, 1, f"the column '{column.name}' is missing; copy the file again")
            names = [column.name for column in renamed if column.name in present]
            for batch in table.iter_batches(batch_size=8192, columns=names):
                lines = range(row, row + batch.num_rows)
                yield Part(lines, _named_as(columns, _cast(path, row, batch, renamed)))
                row = lines.stop
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # an error of the system, not of the data
            damaged = "the data is damaged, at or after this row"
            refuse(
                path,
                row,
                f"{'this is not a whole Parquet file' if row == 1 else damaged}; copy the file again",
            )


def _cast(path: Path, row: int, batch: pa.RecordBatch, columns: Sequence[Column]) -> pa.RecordBatch:
    arrays = []
    for column in columns:
        if column.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, column.type))
            continue
        array = batch.column(column.name)
        if not _holds(array.type, column):
            what = f"the column '{column.name}' holds values of the type {array.type}"
            refuse(path, row, f"{what}; write {_WORDS[column.type]}")
        try:
            if column.joined is not None:
                array = pa.array(
                    [_one_text(value, column.joined) for value in array.to_pylist()], pa.string()
                )
            arrays.append(array.cast(column.type))
            arrays[-1].validate(full=True)  # Parquet does not check that its texts are UTF-8
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            what = f"the column '{column.name}' has values that are no {_WORDS[column.type]} ({array.type})"
            refuse(path, row, f"{what}; copy the file again")
        if column.required and array.null_count:
            first = array.is_null().index(True).as_py()
            refuse(path, row + first, f"'{column.name}' is null; every row needs it")
    return pa.RecordBatch.from_arrays(arrays, schema=_schema(columns))


def _holds(given: pa.DataType, column: Column) -> bool:
    """Whether values of a type in a Parquet file may become those of a column. A cast alone would write
    numbers, dates and truth values as texts, and truth values as numbers."""
    if pa.types.is_null(given):
        return True
    if pa.types.is_dictionary(given):
        return _holds(given.value_type, column)
    if column.type == pa.int32():
        return not pa.types.is_boolean(given)
    if (column.type == _TEXTS or column.joined is not None) and pa.types.is_list(given):
        return _holds(given.value_type, column._replace(type=pa.string()))
    if column.type != pa.string():
        return True
    of_text = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())
    return given in of_text or (pa.types.is_integer(given) and not column.prose)


def _json_lines(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    wanted = [_as_named(column, _keys_of_first(path, columns)) for column in columns]
    needed: list[Any] = []
    others: list[Any] = []
    for place, column in enumerate(wanted):  # fields are numbered: a key such as query-id is no Python name
        kind = _PYTHON[column.type] if column.joined is None else str | list[str] | None
        if column.required:
            needed.append((f"_{place}", kind, msgspec.field(name=column.name)))
        else:
            others.append((f"_{place}", kind | None, msgspec.field(name=column.name, default=None)))
    row_type = msgspec.defstruct("Row", [*needed, *others], gc=False)
    kinds = {
        column.name: (
            *_KINDS[column.type],
            *(() if column.joined is None else ("list", "NoneType")),
            *(() if column.required else ("NoneType",)),
        )
        for column in wanted
    }
    required = tuple(column.name for column in wanted if column.required)
    records: Records[Any] = Records(path, (row_type,), Keys(required, kinds))
    for numbers, rows in records.with_lines():
        try:
            arrays = [
                _values([getattr(row, f"_{place}") for row in rows], column)
                for place, column in enumerate(columns)
            ]
        except (pa.ArrowInvalid, OverflowError):
            what = "at or after this line a number is not whole or has more than 32 bits; mend it"
            refuse(path, numbers[0], what)
        yield Part(numbers, pa.RecordBatch.from_arrays(arrays, schema=_schema(columns)))


def _values(values: list[Any], column: Column) -> pa.Array:
    """The values as an array. Whole numbers are cast, because the cast refuses 1.5, while `pa.array` with a
    type would cut it to 1."""
    if column.joined is not None:
        values = [_one_text(value, column.joined) for value in values]
    return pa.array(values).cast(column.type) if column.type == pa.int32() else pa.array(values, column.type)


def _one_text(value: str | list[str] | None, between: str) -> str:
    parts = [value] if isinstance(value, str) else value or ()
    return between.join(part.strip() for part in parts if part.strip())


def _keys_of_first(path: Path, columns: Sequence[Column]) -> Sequence[str]:
    """The keys of the file's first line, or none if it is malformed: decoding reports that error later."""
    if not any(column.also for column in columns):
        return ()
    try:
        first: Any = msgspec.json.decode(next((line for _, line in lines(path)), b"{}"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
    return list(first) if isinstance(first, dict) else ()


def _tsv(path: Path, columns: Sequence[Column], headed: bool = True) -> Iterator[Part]:
    """Reads a TSV file: a header names the columns, and cells are never quoted."""
    header = [] if headed else [column.name for column in columns]
    places: list[int | None] = list(range(len(header)))
    for first, chunk in chunks(path):
        numbers: list[int] = []
        rows: list[list[Any]] = []
        for number, line in lines_of(first, chunk):
            cells = text_of(path, number, line).split("\t")
            if not header:
                header = cells
                places = _places(path, number, header, columns)
                continue
            if len(cells) != len(header):
                wanted = f"{len(header)} columns between tabs ({', '.join(header)})"
                refuse(path, number, f"expected {wanted}, got {len(cells)}; correct the line")
            numbers.append(number)
            rows.append([_cell(path, number, cells, *pair) for pair in zip(columns, places, strict=True)])
        if rows:
            yield _part(numbers, rows, columns)


def _csv(path: Path, columns: Sequence[Column]) -> Iterator[Part]:
    """Reads a CSV file: a header names the columns, and a quoted cell may hold commas and line ends. An empty
    cell of a column that is not required is null."""
    csv.field_size_limit(2**31 - 1)  # a passage may be longer than the default
    table = csv.reader(_text_lines(path), strict=True)
    places: list[int | None] = []
    header: list[str] = []
    numbers: list[int] = []
    read: list[list[Any]] = []
    start = 1  # the line on which a row begins
    while True:
        try:
            cells = next(table, None)
        except csv.Error as error:
            refuse(path, start, f"not valid CSV ({error}); mend the quotes")
        if cells is None:
            break
        if cells and not header:
            header = cells
            places = _places(path, start, header, columns, "commas")
        elif cells:
            try:
                if len(cells) != len(header):
                    wanted = f"{len(header)} columns between commas ({', '.join(header)})"
                    refuse(path, start, f"expected {wanted}, got {len(cells)}; correct the line")
                pairs = zip(columns, places, strict=True)
                read.append([_of_cell(path, start, cells, *pair) for pair in pairs])
            except Fault as fault:
                fault.last = table.line_num
                raise
            numbers.append(start)
        start = table.line_num + 1
        if len(read) == _ROWS:
            yield _part(numbers, read, columns)
            numbers, read = [], []
    if read:
        yield _part(numbers, read, columns)


def _text_lines(path: Path) -> Iterator[str]:
    for first, chunk in chunks(path):
        for number, line in every_line_of(first, chunk):
            yield text_of(path, number, line) + "\n"


def _part(numbers: Sequence[int], read: Sequence[Sequence[Any]], columns: Sequence[Column]) -> Part:
    values = zip(*read, strict=True)
    arrays = [pa.array(items, column.type) for column, items in zip(columns, values, strict=True)]
    return Part(numbers, pa.RecordBatch.from_arrays(arrays, schema=_schema(columns)))


def _of_cell(path: Path, line: int, cells: Sequence[str], column: Column, place: int | None) -> Any:
    """The cell as a value of the column's type; lists are written as JSON."""
    if place is None or (not column.required and not cells[place]):
        return None
    cell = cells[place]
    if column.type == pa.bool_():
        if cell.lower() not in ("true", "false"):
            refuse(path, line, f"'{column.name}' must be true or false, got '{cell[:40]}'; correct the line")
        return cell.lower() == "true"
    if column.type != _TEXTS:
        return _cell(path, line, cells, column, place)
    try:
        texts = json.loads(cell)
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        refuse(path, line, f"'{column.name}' must be a list of texts, got {cell[:40]}; write it as [\"...\"]")
    return texts


def _places(
    path: Path, line: int, header: Sequence[str], columns: Sequence[Column], between: str = "tabs"
) -> list[int | None]:
    places: list[int | None] = []
    for column in columns:
        name = _as_named(column, header).name
        if column.required and name not in header:
            wanted = ", ".join(column.name for column in columns if column.required)
            refuse(path, line, f"the header must have: {wanted} (between {between}); mend it")
        places.append(header.index(name) if name in header else None)
    return places


def _cell(path: Path, line: int, cells: Sequence[str], column: Column, place: int | None) -> Any:
    if place is None:
        return None
    if column.type != pa.int32():
        return cells[place]
    if not _WHOLE.fullmatch(cell := cells[place]) or not -(2**31) <= int(cell) < 2**31:
        what = f"'{column.name}' must be a whole number of 32 bits, got '{cell[:40]}'"
        refuse(path, line, f"{what}; correct the line")
    return int(cell)


def _as_named(column: Column, names: Sequence[str]) -> Column:
    """The column under the first of its possible names that `names` has. If `names` has none of them, the
    column keeps its name."""
    if column.name in names:
        return column
    return column._replace(name=next((name for name in column.also if name in names), column.name))


def _named_as(columns: Sequence[Column], batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(batch.columns, schema=_schema(columns))


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([(column.name, column.type) for column in columns])
