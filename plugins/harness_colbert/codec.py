"""Vectors in few bits: the nearest centroid and, in each dimension, the bucket of the residual (Santhanam et
al. 2022, ColBERTv2, section 3.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Floats, Ints
from harness_colbert import kernels

BITS = {"1bit": 1, "2bit": 2, "4bit": 4}


class Codec(NamedTuple):
    """What the rows of an index mean. A row has the number of a centroid, the lowest byte first, and the
    bucket of each dimension, the first one in the highest bits of its byte."""

    centroids: Floats  # float32[C, d]
    borders: Floats  # float32[2^bits - 1]: of the buckets, ascending
    values: Floats  # float32[2^bits]: of a residual in each bucket

    @property
    def bits(self) -> int:
        return len(self.values).bit_length() - 1

    @property
    def code(self) -> int:
        """The bytes of a centroid's number."""
        return code_bytes(len(self.centroids))

    @property
    def width(self) -> int:
        """The bytes of a row."""
        return self.code + residual_bytes(self.centroids.shape[1], self.bits)


def code_bytes(centroids: int) -> int:
    return max(1, ((centroids - 1).bit_length() + 7) // 8)


def residual_bytes(dimension: int, bits: int) -> int:
    return -(-dimension * bits // 8)


class Compressed:
    """The rows of some texts (uint8[t, width]) that become vectors where they are read."""

    def __init__(self, codec: Codec, rows: NDArray[np.uint8]) -> None:
        self._codec, self._rows = codec, rows
        buckets = np.arange(256)[:, None] >> np.arange(8 - codec.bits, -1, -codec.bits)
        self._values = codec.values[buckets & ((1 << codec.bits) - 1)]  # float32[256, dimensions of a byte]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, places: slice | Ints) -> Floats:
        """float32[n, d], of length 1."""
        rows = self._rows[places]
        vectors = np.empty((len(rows), self._codec.centroids.shape[1]), np.float32)
        kernels.unpack(rows, self._codec.centroids, self._values, self._codec.code, vectors)
        return vectors

    def numbers(self) -> NDArray[np.int32]:
        """int32[t]: the centroid of each vector."""
        shifts = 8 * np.arange(self._codec.code, dtype=np.int32)
        digits = self._rows[:, : self._codec.code].astype(np.int32) << shifts
        return np.asarray(digits.sum(axis=1, dtype=np.int32), np.int32)
