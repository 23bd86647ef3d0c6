"""From positions in a corpus to the rows of an index that holds only some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.types import Ints


def rows_of(positions: Ints, known: Ints) -> Ints:
    """int64, as `positions` is shaped: where each stands in `known` (int64[N], ascending), -1 where it does
    not, as a -1 that fills a row never does."""
    if not len(known):
        return np.full(positions.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(known, positions), len(known) - 1)
    return np.where(known[place] == positions, place, -1)
