"""The compiled loop that drops numbers. Each group of four numbers has its own counter."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HALF = np.uint64(0xFFFF)


def mixed(start: int, numbers: Any) -> Any:
    """uint64: a key for each of `numbers` (one number, or an array), mixed with `start`."""
    with np.errstate(over="ignore"):
        z = np.uint64(start) + (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
        return z ^ (z >> np.uint64(31))


@nb.njit(
    [
        nb.void(bits[::1], nb.uint64[::1], nb.int64[::1], nb.int64, nb.int64, nb.uint64, nb.uint64, bits)
        for bits in (nb.uint16, nb.uint32)
    ],
    nogil=True,
    cache=True,
)
def drop(
    values: NDArray[Any],
    keys: NDArray[np.uint64],
    rows: NDArray[np.int64],
    planes: int,
    width: int,
    layer: Any,
    threshold: Any,
    every: Any,
) -> None:
    """Set each number of `values` to 0 with the probability threshold / 2^16. `values` has the bits of the
    numbers. Each text has `planes` rectangles, with the number of rows that `rows` gives for the text and
    `width` columns. All bits of `every` are 1. The random bits of a number depend on the key of its text, the
    layer, the plane, the row and the column, but not on any size."""
    at, zero = 0, every - every
    kept = np.empty(width, values.dtype)  # all bits are 1 for a number that stays, and 0 for the others
    for text in range(len(keys)):
        start = keys[text] + layer * FIRST
        start = (start ^ (start >> np.uint64(29))) * SECOND
        for plane in range(planes):
            for row in range(rows[text]):
                first = (
                    start + ((np.uint64(plane) << np.uint64(32)) + (np.uint64(row) << np.uint64(16))) * GOLDEN
                )
                for group in range(width // 4):
                    z = first + np.uint64(group) * GOLDEN
                    z = (z ^ (z >> np.uint64(30))) * FIRST
                    z = (z ^ (z >> np.uint64(27))) * SECOND
                    z ^= z >> np.uint64(31)
                    j = group * 4
                    kept[j] = every if (z & HALF) >= threshold else zero
                    kept[j + 1] = every if ((z >> np.uint64(16)) & HALF) >= threshold else zero
                    kept[j + 2] = every if ((z >> np.uint64(32)) & HALF) >= threshold else zero
                    kept[j + 3] = every if (z >> np.uint64(48)) >= threshold else zero
                for j in range(width - width % 4, width):
                    z = first + np.uint64(width // 4) * GOLDEN
                    z = (z ^ (z >> np.uint64(30))) * FIRST
                    z = (z ^ (z >> np.uint64(27))) * SECOND
                    z ^= z >> np.uint64(31)
                    kept[j] = every if ((z >> np.uint64(16 * (j % 4))) & HALF) >= threshold else zero
                line = values[at : at + width]
                for j in range(width):
                    line[j] &= kept[j]
                at += width
