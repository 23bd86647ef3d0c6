"""The compiled loop of Condorcet fusion: a merge sort by majority votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from harness.plugin import Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def in_condorcet_order(ranks: NDArray[np.float64], first: Ints) -> NDArray[np.float64]:
    """float64[n]: for each candidate, the number of candidates of its query that are behind it in Condorcet's
    order. `ranks` is float64[n, inputs], infinite where an input lacks the candidate. The candidates of query
    q start at first[q] (int64[Q + 1])."""
    behind = np.empty(len(ranks))
    for query in range(len(first) - 1):
        start, stop = first[query], first[query + 1]
        order = np.arange(start, stop)
        merged = np.empty_like(order)
        width = 1
        while width < len(order):
            for low in range(0, len(order), 2 * width):
                _merge(
                    ranks, order, merged, low, min(low + width, len(order)), min(low + 2 * width, len(order))
                )
            order, merged = merged, order
            width *= 2
        for place, candidate in enumerate(order):
            behind[candidate] = len(order) - 1 - place
    return behind


@njit(cache=True, nogil=True)
def _merge(ranks: NDArray[np.float64], order: Ints, merged: Ints, low: int, middle: int, high: int) -> None:
    """Merge order[low:middle] and order[middle:high] into merged[low:high]. A candidate of the left part goes
    first unless the candidate of the right part beats it."""
    left, right = low, middle
    for place in range(low, high):
        take_left = right >= high
        if left < middle and right < high:
            votes = 0
            for column in range(ranks.shape[1]):
                one, other = ranks[order[left], column], ranks[order[right], column]
                votes += int(other < one) - int(one < other)
            take_left = votes <= 0
        if take_left:
            merged[place] = order[left]
            left += 1
        else:
            merged[place] = order[right]
            right += 1
