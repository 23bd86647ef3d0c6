"""Arrow files whose record batches have a fixed number of rows, so that a row is found at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 4096  # of every record batch but the last


class Writer:
    """Writes batches of any size as blocks of ROWS rows: the bytes depend on the rows alone."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._file = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_file(self._file, schema)
        self._pending: list[pa.RecordBatch] = []  # fewer than ROWS rows in all
        self._rows = 0

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
        for block in range(start, whole, ROWS):
            self._stream.write_batch(batch.slice(block, ROWS))
        if whole < batch.num_rows:
            self._pending = [batch.slice(whole)]
            self._rows = batch.num_rows - whole

    def _flush(self) -> None:
        columns = [
            pa.concat_arrays([batch.column(i) for batch in self._pending]) for i in range(len(self._schema))
        ]
        self._stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._pending, self._rows = [], 0

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._stream.close()
        self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # what is left is overwritten by the next run
            self._file.close()


class Blocks:
    """A memory-mapped file that Writer wrote. Its blocks are opened as they are asked for."""

    def __init__(self, path: Path) -> None:
        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._blocks: list[pa.RecordBatch | None] = [None] * self._reader.num_record_batches
        last = self.block(len(self._blocks) - 1).num_rows if self._blocks else 0
        self.rows = max(0, len(self._blocks) - 1) * ROWS + last

    def block(self, index: int) -> pa.RecordBatch:
        block = self._blocks[index]
        if block is None:
            block = self._blocks[index] = self._reader.get_batch(index)
        return block

    def column(self, name: str) -> pa.ChunkedArray:
        """The whole column; nothing is copied."""
        field = self._reader.schema.field(name)
        return pa.chunked_array(
            [self.block(i).column(name) for i in range(len(self._blocks))], type=field.type
        )

    def between(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """The rows start to stop - 1, in parts of at most ROWS."""
        while start < stop:
            index, row = divmod(start, ROWS)
            count = min(ROWS - row, stop - start)
            yield self.block(index).slice(row, count)
            start += count

    def strings(self, name: str, rows: NDArray[np.integer]) -> list[str]:
        """A column's values at these rows, in their order."""
        if len(rows) == 0:
            return []
        if int(rows.min()) < 0 or int(rows.max()) >= self.rows:
            raise IndexError(f"rows must lie in 0 to {self.rows - 1}")
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        block_of = ordered // ROWS
        edges = [0, *(np.flatnonzero(np.diff(block_of)) + 1).tolist(), len(rows)]
        found: list[str] = []
        for start, stop in pairwise(edges):
            values = self.block(int(block_of[start])).column(name)
            found += pc.take(values, pa.array(ordered[start:stop] % ROWS)).to_pylist()
        if np.array_equal(ordered, rows):
            return found
        back = np.empty(len(rows), dtype=np.int64)
        back[order] = np.arange(len(rows))
        return [found[i] for i in back.tolist()]
