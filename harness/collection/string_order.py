"""Orders whole columns of strings by their bytes: sorting, ranks and equal strings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def ascending(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Sorts the strings of a column by their UTF-8 bytes; equal strings keep their order. Returns the rows in
    this order (int64[n]), and for each but the last whether the next is equal (bool[n - 1])."""
    strings = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in column.chunks])
    order = pc.sort_indices(strings)
    ordered = strings.take(order)
    return order.to_numpy().astype(np.int64), like_next(ordered)


def like_next(values: pa.Array) -> NDArray[np.bool_]:
    """For each value but the last, whether the next value is equal: bool[n - 1]."""
    same = pc.equal(values.slice(0, len(values) - 1), values.slice(1))
    equal: NDArray[np.bool_] = same.to_numpy(zero_copy_only=False)
    return equal


def ranks_of(order: NDArray[np.int64]) -> NDArray[np.int32]:
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def first_of_equals(order: NDArray[np.int64], same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row, the first equal row: int64[n]. `order` and `same` come from `ascending`."""
    groups = np.append(0, np.cumsum(~same))
    firsts = order[np.flatnonzero(np.append(True, ~same))]
    first_places = np.empty(len(order), dtype=np.int64)
    first_places[order] = firsts[groups]
    return first_places
