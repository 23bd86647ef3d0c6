"""Looks up rows of files by id. Ids and texts stay on disk: a row takes 16 bytes of memory."""

from __future__ import annotations

import mmap
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from harness.errors import HarnessError
from harness.store import disk
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.tables import Column, parts
from harness.types import JSON

_SOME = 8192  # ids that are compared at once
_SHOWN = 3  # ids that the facts give as examples
_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("line", pa.int64())])


class Rows(NamedTuple):
    """Some rows of a file, with their lines."""

    path: Path
    lines: Sequence[int]
    ids: pa.Array
    texts: pa.Array


class ById:
    """Rows of files, whose ids must differ, in the order of the files."""

    def __init__(self, rows: Iterable[Rows], what: str = "document") -> None:
        """`what` is what an id names. An id that occurs twice is refused with both lines, and so is an empty
        id."""
        self._paths: list[Path] = []  # of each batch
        self._starts = [0]
        hashes: list[NDArray[np.int64]] = []
        with _temporary() as file:
            with pa.ipc.new_file(file, _SCHEMA) as writer:
                for path, lines, ids, texts in rows:
                    hashes.append(_hashes(names := ids.to_pylist()))
                    if "" in names:
                        refuse(path, lines[names.index("")], f"the {what}'s id is empty; write the id")
                    columns = [ids, texts, pa.array(lines, pa.int64())]
                    writer.write_batch(pa.record_batch(columns, schema=_SCHEMA))
                    self._paths.append(path)
                    self._starts.append(self._starts[-1] + len(lines))
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # it outlives the closed file
        reader = pa.ipc.open_file(pa.py_buffer(mapped))
        self._batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        unsorted = np.concatenate([*hashes, np.empty(0, np.int64)])
        self._rows = np.argsort(unsorted, kind="stable")  # int64[n]: the row of the id that has each hash
        self._hashes = unsorted[self._rows]  # int64[n], ascending
        self._refuse_twice(what)

    def __len__(self) -> int:
        return len(self._rows)

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """int64[n]: the row of each id, or -1 if it is missing."""
        places = np.searchsorted(self._hashes, _hashes(ids)).tolist()
        return np.array([self._row(id, place) for id, place in zip(ids, places, strict=True)], np.int64)

    def texts_of(self, ids: Sequence[str]) -> list[str | None]:
        """The text of each id, or None if it is missing."""
        return [None if row < 0 else self._value(1, row) for row in self.rows_of(ids).tolist()]

    def place(self, id: str) -> tuple[Path, int]:
        """The file and the line of an id that is there."""
        return self._place(int(self.rows_of([id])[0]))

    def match(
        self, ids: Iterable[str], what: str, path: Path, missing: str = "refuse", unknown: str = "refuse"
    ) -> dict[str, JSON]:
        """Compares the rows with all ids of a collection. Returns as facts the number of rows, the numbers of
        ids that only the collection and only the file has, and the first of them. With `refuse` for `missing`
        or `unknown`, such an id raises HarnessError. A file without any id of the collection is always
        refused."""
        asked = np.zeros(len(self), bool)
        absent, size, some = 0, 0, iter(ids)
        examples: list[str] = []
        while wanted := list(islice(some, _SOME)):
            rows = self.rows_of(wanted)
            asked[rows[rows >= 0]] = True
            size, absent = size + len(wanted), absent + int((rows < 0).sum())
            examples += [wanted[place] for place in np.flatnonzero(rows < 0)[: _SHOWN - len(examples)]]
        strange = np.flatnonzero(~asked)
        if size and absent == size:
            text = f"{path}: it has no {what} of the collection (such as '{examples[0]}')"
            raise HarnessError(f"{text}; name the file that was made for this collection")
        if absent and missing == "refuse":
            raise missing_row(path, what, examples[0], f", one of {absent:,}")
        if len(strange) and unknown == "refuse":
            text = f"the collection has no {what} '{self._value(0, strange[0])}', one of {len(strange):,}"
            refuse(*self._place(strange[0]), f"{text}; shorten the file, or choose unknown: skip")
        facts: dict[str, JSON] = {
            f"{what}s_in_file": len(self),
            f"{what}s_not_in_file": absent,
            f"{what}s_not_in_corpus": len(strange),
        }
        if absent:
            facts[f"first_{what}s_not_in_file"] = list(examples)
        if len(strange):
            facts[f"first_{what}s_not_in_corpus"] = [self._value(0, row) for row in strange[:_SHOWN]]
        return facts

    def _place(self, row: int) -> tuple[Path, int]:
        return self._paths[bisect_right(self._starts, row) - 1], self._value(2, row)

    def _value(self, column: int, row: int) -> Any:
        batch = bisect_right(self._starts, row) - 1
        return self._batches[batch].column(column)[row - self._starts[batch]].as_py()

    def _row(self, id: str, place: int) -> int:
        while place < len(self._rows) and self._hashes[place] == hash(id):
            if self._value(0, row := int(self._rows[place])) == id:
                return row
            place += 1  # another id has the same hash
        return -1

    def _refuse_twice(self, what: str) -> None:
        same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1]) + 1
        for row in np.sort(self._rows[same]).tolist():
            id = self._value(0, row)
            first = int(self.rows_of([id])[0])  # of rows with one hash, the first by line
            if first != row:
                (path, line), (other, before) = self._place(row), self._place(first)
                where = f"line {before}" if other == path else f"{other}:{before}"
                refuse(path, line, f"the {what} '{id}' stands in {where} too; remove one of them")


def missing_row(path: Path, what: str, id: str, more: str = "") -> HarnessError:
    text = f"{path}: the {what} '{id}' is missing{more}"
    return HarnessError(f"{text}; complete the file, or choose missing: skip")


def of_tables(paths: Iterable[Path], id: Column, text: Column, header: bool = True) -> Iterator[Rows]:
    """The rows of files of any form that `harness.toolkit.files.tables` reads."""
    for path in paths:
        for part in parts(path, (id, text), header):
            yield Rows(path, part.lines, *part.batch.columns)


@contextmanager
def _temporary() -> Iterator[IO[bytes]]:
    try:
        with tempfile.TemporaryFile() as file:
            yield file
    except OSError as error:
        if error.errno not in disk.FULL:
            raise
        text = f"{tempfile.gettempdir()}: no space is left for a temporary file"
        raise HarnessError(f"{text}; free some, or name another folder as TMPDIR") from error


def _hashes(ids: Sequence[str]) -> NDArray[np.int64]:
    """int64[n]: the hash of each id. The hashes of another process differ."""
    return np.fromiter(map(hash, ids), np.int64, len(ids))
