"""Arrow files whose record batches have a fixed number of rows, so that a row is found at once."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

ROWS = 1024  # rows of every record batch but the last
PART = 128  # record batches per file; with several files, several cores can compute checksums
HELD = 512  # record batches whose pages may be in memory; their texts have about 200 MB


class Writer:
    """Writes batches of strings as blocks of ROWS rows into the files `name-00000.arrow` and so on. The
    batches may have any size, but no nulls. Files of these names that a killed run left are deleted. The
    bytes of the files depend on the rows alone."""

    def __init__(self, folder: Path, name: str, schema: pa.Schema) -> None:
        for path in folder.glob(f"{name}-*.arrow"):
            path.unlink()
        self._folder, self._name, self._schema = folder, name, schema
        self._pending: list[pa.RecordBatch] = []  # fewer than ROWS rows in all
        self._rows = 0  # rows in `_pending`
        self._parts = self._blocks = 0  # files so far, and record batches in the last file
        self._open_part()

    def _open_part(self) -> None:
        self._file = pa.OSFile(str(_part(self._folder, self._name, self._parts)), "wb")
        self._stream = pa.ipc.new_file(self._file, self._schema)
        self._parts, self._blocks = self._parts + 1, 0

    def _close_part(self) -> None:
        self._stream.close()
        self._file.close()

    def write(self, batch: pa.RecordBatch) -> None:
        start = 0
        if self._rows:
            start = min(ROWS - self._rows, batch.num_rows)
            self._pending.append(batch.slice(0, start))
            self._rows += start
            if self._rows < ROWS:
                return
            self._flush()
        whole = start + (batch.num_rows - start) // ROWS * ROWS
        while start < whole:
            start += self._write_blocks(batch.slice(start, whole - start))
        if whole < batch.num_rows:
            self._pending = [batch.slice(whole)]
            self._rows = batch.num_rows - whole

    def _write_blocks(self, batch: pa.RecordBatch) -> int:
        """Write the rows that fit into the last file, and return their number."""
        if self._blocks == PART:
            self._close_part()
            self._open_part()
        rows = min(int(batch.num_rows), (PART - self._blocks) * ROWS)
        blocks = [_alone(batch.slice(start, min(ROWS, rows - start))) for start in range(0, rows, ROWS)]
        self._stream.write_table(pa.Table.from_batches(blocks))  # in one call, which releases Python's lock
        self._blocks += len(blocks)
        return rows

    def _flush(self) -> None:
        block = pa.Table.from_batches(self._pending).combine_chunks().to_batches()[0]
        self._pending, self._rows = [], 0
        self._write_blocks(block)

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._close_part()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # the next run overwrites the unfinished files
            self._file.close()


class Blocks:
    """The memory-mapped files of a Writer. Files and blocks are opened when they are first used. After every
    HELD uses of blocks, all mapped pages are given back to the system, so that the memory of a process does
    not grow with the collection. A page that is used again comes from the system's cache of files."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        parts = sum(1 for _ in folder.glob(f"{name}-*.arrow"))
        self._parts: list[Any] = [None] * parts
        self._maps: list[mmap.mmap] = []
        self._uses = 0  # how often a block was used since pages were given back
        self._blocks: list[pa.RecordBatch | None] = [None] * (PART * parts)
        in_last = self._part(parts - 1).num_record_batches
        del self._blocks[PART * (parts - 1) + in_last :]
        self.rows = 0
        if self._blocks:
            self.rows = (len(self._blocks) - 1) * ROWS + self.block(len(self._blocks) - 1).num_rows

    def _part(self, index: int) -> Any:
        part = self._parts[index]
        if part is None:
            with _part(self._folder, self._name, index).open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._maps.append(mapped)
            part = self._parts[index] = pa.ipc.open_file(pa.py_buffer(mapped))
        return part

    def block(self, index: int) -> pa.RecordBatch:
        self._uses += 1
        if self._uses > HELD:
            self._uses = 0
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)
        block = self._blocks[index]
        if block is None:
            part, place = divmod(index, PART)
            block = self._blocks[index] = self._part(part).get_batch(place)
        return block

    def columns(self, name: str) -> Iterator[pa.ChunkedArray]:
        """The whole column of that name in pieces of HELD blocks, without a copy."""
        for start in range(0, len(self._blocks), HELD):
            blocks = range(start, min(start + HELD, len(self._blocks)))
            yield pa.chunked_array([self.block(i).column(name) for i in blocks])

    def between(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """The rows `start` to `stop` - 1, in batches of at most ROWS."""
        while start < stop:
            index, row = divmod(start, ROWS)
            count = min(ROWS - row, stop - start)
            yield self.block(index).slice(row, count)
            start += count

    def strings(self, name: str, rows: NDArray[np.integer]) -> list[str]:
        """The values of the column `name` at `rows`, in the order of `rows`."""
        if len(rows) == 0:
            return []
        if int(rows.min()) < 0 or int(rows.max()) >= self.rows:
            raise IndexError(f"rows must lie in 0 to {self.rows - 1}")
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        block_of = ordered // ROWS
        edges = [0, *(np.flatnonzero(np.diff(block_of)) + 1).tolist(), len(rows)]
        texts: list[str] = []
        for start, stop in pairwise(edges):
            values = self.block(int(block_of[start])).column(name)
            places = ordered[start:stop] % ROWS
            if len(places) < 8:  # for a few values, reading one by one is faster than a call of Arrow
                texts += [values[place].as_py() for place in places.tolist()]
            else:
                texts += pc.take(values, pa.array(places)).to_pylist()
        if np.array_equal(ordered, rows):
            return texts
        back = np.empty(len(rows), dtype=np.int64)
        back[order] = np.arange(len(rows))
        return [texts[i] for i in back.tolist()]


def streamed(folder: Path, name: str) -> Iterator[pa.RecordBatch]:
    """All rows of a Writer's files in order. The files are read, not mapped, so that a pass over them leaves
    nothing in memory."""
    for path in sorted(folder.glob(f"{name}-*.arrow")):
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)


def _alone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch in buffers of its own. Arrow pads a written slice with the bytes that follow the slice in
    memory, and these bytes depend on how the rows were batched."""
    columns = []
    for column in batch.columns:
        kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
        _, offsets, data = column.buffers()
        ends = np.frombuffer(offsets, dtype=kind)[column.offset :][: len(column) + 1]
        start, stop = int(ends[0]), int(ends[-1])
        buffers = [
            None,
            pa.py_buffer(ends - start),
            data.slice(start, stop - start) if data else pa.py_buffer(b""),
        ]
        columns.append(pa.Array.from_buffers(column.type, len(column), buffers))
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _part(folder: Path, name: str, index: int) -> Path:
    return folder / f"{name}-{index:05}.arrow"
