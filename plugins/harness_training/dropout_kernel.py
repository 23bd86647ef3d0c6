"""The compiled loop that fills dropout masks. Each group of four numbers has its own counter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba as nb
import numpy as np

if TYPE_CHECKING:
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
        nb.void(nb.uint16[:, :, :, ::1], nb.uint64[::1], nb.uint64, nb.uint64, nb.uint16),
        nb.void(nb.uint32[:, :, :, ::1], nb.uint64[::1], nb.uint64, nb.uint64, nb.uint32),
    ],
    nogil=True,
    cache=True,
)
def fill(out: NDArray[Any], keys: NDArray[np.uint64], layer: Any, threshold: Any, one: Any) -> None:
    """Set each number of `out`, [n, a, i, j], to 0 with the probability threshold / 2^16, else to `one`. The
    random bits of a number depend on its text's key, the layer and a, i, j, but not on the shape."""
    texts, planes, rows, width = out.shape
    zero = one - one
    for text in range(texts):
        start = keys[text] + layer * FIRST
        start = (start ^ (start >> np.uint64(29))) * SECOND
        for plane in range(planes):
            for row in range(rows):
                at = (
                    start + ((np.uint64(plane) << np.uint64(32)) + (np.uint64(row) << np.uint64(16))) * GOLDEN
                )
                line = out[text, plane, row]
                for group in range(width // 4):
                    z = at + np.uint64(group) * GOLDEN
                    z = (z ^ (z >> np.uint64(30))) * FIRST
                    z = (z ^ (z >> np.uint64(27))) * SECOND
                    z ^= z >> np.uint64(31)
                    j = group * 4
                    line[j] = one if (z & HALF) >= threshold else zero
                    line[j + 1] = one if ((z >> np.uint64(16)) & HALF) >= threshold else zero
                    line[j + 2] = one if ((z >> np.uint64(32)) & HALF) >= threshold else zero
                    line[j + 3] = one if (z >> np.uint64(48)) >= threshold else zero
                for j in range(width - width % 4, width):
                    z = at + np.uint64(width // 4) * GOLDEN
                    z = (z ^ (z >> np.uint64(30))) * FIRST
                    z = (z ^ (z >> np.uint64(27))) * SECOND
                    z ^= z >> np.uint64(31)
                    line[j] = one if ((z >> np.uint64(16 * (j % 4))) & HALF) >= threshold else zero
