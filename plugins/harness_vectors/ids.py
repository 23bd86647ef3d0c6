"""The ids of vectors as one column of bytes, which is searched by hashes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.plugin import Ints
from harness.toolkit.text.interning import hash_spans


class Ids(NamedTuple):
    """The ids of all vectors of a file. Only the ids that are asked for become Python strings."""

    column: pa.Array  # large_string: the id of each row
    hashes: NDArray[np.uint64]  # uint64[n], ascending
    row_of_hash: Ints  # int64[n]: the row whose id has each hash

    def __len__(self) -> int:
        return len(self.column)

    def at(self, row: int) -> str:
        id: str = self.column[row].as_py()
        return id

    def rows(self, ids: Sequence[str]) -> Ints:
        """int64[n]: the row of each id, -1 for an id that has none."""
        wanted = pa.array(ids, pa.large_string())
        hashes = _hashes(wanted)
        places = np.searchsorted(self.hashes, hashes)
        rows = np.full(len(ids), -1, np.int64)
        unsure = np.arange(len(ids))
        while len(unsure):  # again only if two different ids have the same hash
            unsure = unsure[places[unsure] < len(self.hashes)]
            unsure = unsure[self.hashes[places[unsure]] == hashes[unsure]]
            likely = self.row_of_hash[places[unsure]]
            same = pc.equal(self.column.take(pa.array(likely)), wanted.take(pa.array(unsure)))
            equal = same.to_numpy(zero_copy_only=False).astype(bool)
            rows[unsure[equal]] = likely[equal]
            unsure = unsure[~equal]
            places[unsure] += 1
        return rows

    def repeated(self) -> tuple[int, int] | None:
        """The first row whose id an earlier row has, after that earlier row; None if all ids differ."""
        if not len(self.hashes):
            return None
        alike = self.hashes[1:] == self.hashes[:-1]
        rows = np.sort(self.row_of_hash[np.append(alike, False) | np.append(False, alike)])
        first: dict[str, int] = {}
        for row in rows.tolist():
            before = first.setdefault(self.at(row), row)
            if before != row:
                return before, row
        return None


def gathered(batches: Iterable[Sequence[str]]) -> Ids:
    """The ids of all batches. `repeated` says whether they differ."""
    columns, parts = [pa.array([], pa.large_string())], [np.zeros(0, np.uint64)]
    for batch in batches:
        columns.append(pa.array(batch, pa.large_string()))
        parts.append(_hashes(columns[-1]))
    column, hashes = pa.concat_arrays(columns), np.concatenate(parts)
    columns.clear()
    parts.clear()
    pa.default_memory_pool().release_unused()  # the columns' memory; the arrays below need as much
    row_of_hash = np.argsort(hashes)
    return Ids(column, hashes[row_of_hash], row_of_hash)


def _hashes(column: pa.Array) -> NDArray[np.uint64]:
    """uint64[n]: a hash of each string's bytes. `column` begins at the start of its buffers."""
    hashes = np.empty((len(column), 2), np.uint64)
    _, offsets, data = column.buffers()
    if len(column):
        ends = np.frombuffer(offsets, np.int64, len(column) + 1)
        text = np.frombuffer(data or b"", np.uint8).astype(np.uint32)
        hash_spans(text, ends[:-1].astype(np.int32), np.diff(ends).astype(np.int32), hashes)
    return np.ascontiguousarray(hashes[:, 0])
