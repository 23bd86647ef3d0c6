"""Converts positions in a corpus to rows of an index that holds only some of them, and back."""

from __future__ import annotations

import numpy as np

from harness.types import Floats, Hits, Ints, Unit


def rows_of(positions: Ints, known: Ints) -> Ints:
    """int64, shaped as `positions`: the index of each position in `known` (int64[N], ascending). The result
    is -1 for a position that is not in `known`, and for a -1 that fills a row."""
    if not len(known):
        return np.full(positions.shape, -1, np.int64)
    place = np.minimum(np.searchsorted(known, positions), len(known) - 1)
    return np.where(known[place] == positions, place, -1)


def hits_of(rows: Ints, scores: Floats, k: int, known: Ints, unit: Unit) -> Hits:
    """Hits of k columns from the rows of an index (int64[Q, n], n <= k, filled with -1) and their scores
    (float32[Q, n]). Row r of the index holds the position known[r]."""
    queries, width = rows.shape
    hits = Hits(np.full((queries, k), -1, np.int64), np.full((queries, k), -np.inf, np.float32), unit)
    filled = rows >= 0
    hits.passages[:, :width][filled] = known[rows[filled]]
    hits.scores[:, :width][filled] = scores[filled]
    return hits
