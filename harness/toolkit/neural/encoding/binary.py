"""Stores vectors in binary: one bit for each number, which says whether the number is above 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from harness.types import Floats


class Codes:
    """Rows of bits, eight in a byte (uint8[n, d / 8]), perhaps mapped from a file. Indexing reads only the
    chosen rows, and gives 1 for a number above 0 and -1 for any other, as float32."""

    dtype = np.dtype(np.uint8)

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self.rows = rows
        self.shape = (len(rows), rows.shape[1] * 8)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: Any) -> Floats:
        signs: Floats = np.unpackbits(self.rows[chosen], axis=-1).astype(np.float32)
        signs *= 2
        signs -= 1
        return signs


def packed(rows: Floats) -> NDArray[np.uint8]:
    """uint8[n, d / 8]: the bits of rows (float32[n, d]), where d is a multiple of 8."""
    return np.packbits(rows > 0, axis=1)
