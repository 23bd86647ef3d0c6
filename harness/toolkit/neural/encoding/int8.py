"""Stores vectors in int8: a scale times whole numbers from -127 to 127, in a quarter of the size of fp32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from harness.types import Floats

_LARGEST = 127
GROUP = 1024  # neighbours are compared within groups of this many vectors
_PROBES, NEAREST = 16, 10  # the first vectors of each group, and the nearest neighbours of each
_SAME = 1e-6  # neighbours whose exact cosines differ by less are equally near; copies of a text, for example


class Scaled:
    """Rows of whole numbers (int8[n, d]), each with a scale (float32[n]). Both arrays may be mapped from
    files. Indexing reads only the chosen rows, and gives them as float32."""

    dtype = np.dtype(np.int8)

    def __init__(self, rows: NDArray[np.int8], scales: Floats) -> None:
        self.rows, self.scales = rows, scales
        self.shape = rows.shape

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> tuple[NDArray[np.int8], Floats]:
        """The whole numbers and scales of some rows, read-only: loops are then compiled for one type only."""
        rows, scales = (part[start:stop].view(np.ndarray).view() for part in (self.rows, self.scales))
        rows.flags.writeable = scales.flags.writeable = False
        return rows, scales

    def __getitem__(self, chosen: Any) -> Floats:
        rows: Floats = self.rows[chosen].astype(np.float32)
        rows *= np.asarray(self.scales[chosen])[..., None]
        return rows


def scaled(rows: Floats) -> tuple[NDArray[np.int8], Floats]:
    """The rows (float32[n, d], finite) as whole numbers int8[n, d] and scales float32[n]. The number with the
    largest absolute value in a row becomes 127 or -127. The result for a row does not depend on other
    rows."""
    scales = np.abs(rows).max(axis=1, initial=0) / np.float32(_LARGEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(rows / scales[:, None])
    whole = np.clip(np.nan_to_num(whole, nan=0), -_LARGEST, _LARGEST)  # a row of zeros has the scale 0
    return whole.astype(np.int8), scales


def neighbours(rows: Floats, stored: Floats) -> tuple[int, int]:
    """How many of the nearest neighbours by `rows` are also among the nearest by `stored`, and how many were
    compared. Compared are the NEAREST neighbours by inner product of each of the first PROBES rows."""
    count = len(rows)
    probes, nearest = min(_PROBES, count), min(NEAREST, count - 1)
    if nearest < 1:
        return 0, 0
    exact, estimated = rows[:probes] @ rows.T, rows[:probes] @ stored.T
    for scores in (exact, estimated):
        np.fill_diagonal(scores, -np.inf)
    least = np.partition(exact, count - nearest, axis=1)[:, count - nearest]
    best = np.argpartition(estimated, count - nearest, axis=1)[:, count - nearest :]
    slack = _SAME * np.linalg.norm(rows[:probes], axis=1) * np.linalg.norm(rows, axis=1).max()
    agreed = np.take_along_axis(exact, best, axis=1) >= (least - slack)[:, None]
    return int(agreed.sum()), probes * nearest
