"""Looks up texts by ids, of which there may be millions, in 16 bytes of memory for each beside the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class ById(NamedTuple):
    """Ids, each once, and the text of each. An id is looked up by its hash."""

    ids: pa.Array
    texts: pa.Array
    hashes: NDArray[np.int64]  # int64[n], ascending
    rows: NDArray[np.int64]  # int64[n]: the row of the id that has each hash

    def rows_of(self, wanted: Sequence[str]) -> NDArray[np.int64]:
        """int64[n]: the row of each wanted id, or -1 if it is missing."""
        places = np.searchsorted(self.hashes, _hashes(wanted)).tolist()
        return np.array([self._row(id, place) for id, place in zip(wanted, places, strict=True)], np.int64)

    def _row(self, id: str, place: int) -> int:
        while place < len(self.rows) and self.hashes[place] == hash(id):
            number = int(self.rows[place])
            if self.ids[number].as_py() == id:
                return number
            place += 1  # another id has the same hash
        return -1


def by_id(ids: Sequence[str], texts: Sequence[str]) -> ById:
    hashes = _hashes(ids)
    rows = np.argsort(hashes, kind="stable")
    return ById(pa.array(ids, pa.string()), pa.array(texts, pa.string()), hashes[rows], rows)


def _hashes(ids: Sequence[str]) -> NDArray[np.int64]:
    """int64[n]: the hash of each id. The hashes of another process differ."""
    return np.fromiter(map(hash, ids), np.int64, len(ids))
