"""Exact search by inner product: the k best of many vectors for each query, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from harness.types import Floats, Ints

BLOCK = 8192  # vectors compared at once


def search(queries: Floats, vectors: NDArray[Any], k: int, within: Ints | None = None) -> tuple[Ints, Floats]:
    """The places and inner products of the k best vectors for each query, best first, ties by place.

    `queries` is float32[Q, d]; `vectors` float32 or float16 [N, d], perhaps mapped from a file. `within`
    (int64[Q, n], -1 fills) names the places to look at in the place of all N. Both results have min(k, N)
    columns (min(k, n) with `within`); short rows are filled with -1 and -inf.
    """
    if within is not None:
        return _best(score(queries, vectors, within), np.where(within < 0, -1, within), k)
    places = np.full((len(queries), 0), -1, np.int64)
    scores = np.zeros((len(queries), 0), np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = np.asarray(vectors[start : start + BLOCK], np.float32)
        found = np.broadcast_to(np.arange(start, start + len(block)), (len(queries), len(block)))
        places, scores = _best(
            np.hstack([scores, queries @ block.T]), np.hstack([places, found]).astype(np.int64), k
        )
    return places, scores


def score(queries: Floats, vectors: NDArray[Any], places: Ints) -> Floats:
    """float32[Q, n]: the inner products of each query with the vectors at its places (int64[Q, n]); -inf
    where a place is -1."""
    result = np.full(places.shape, -np.inf, np.float32)
    for row in range(len(queries)):
        there = places[row] >= 0
        result[row, there] = np.asarray(vectors[places[row, there]], np.float32) @ queries[row]
    return result


def _best(scores: Floats, places: Ints, k: int) -> tuple[Ints, Floats]:
    """The k best of each row, of which no two share a place."""
    order = np.lexsort((places, np.where(places < 0, np.inf, -scores)), axis=1)[:, :k]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(scores, order, axis=1)
