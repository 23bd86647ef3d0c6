"""The judgements of each query, best first, as the ideal ranking has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints


class Ideal(NamedTuple):
    """All J judgements of Q queries, ordered by query, then by falling grade."""

    queries: int  # Q
    row: Ints  # int64[J]: the query's row in the array of grades
    grade: NDArray[np.int32]  # int32[J]


def ideal_of(queries: int, row: Ints, grade: NDArray[np.int32]) -> Ideal:
    order = np.lexsort((-grade.astype(np.int64), row))
    return Ideal(queries, row[order], grade[order])


def relevant(ideal: Ideal, rel: int) -> NDArray[np.float64]:
    """The number of judgements of each query with a grade of at least `rel`: float64[Q]."""
    return per_row(ideal.row[ideal.grade >= rel], ideal.queries)


def per_row(rows: Ints, queries: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The sum of the weights of each row: float64[Q]. Weights are 1 if not given, and are added in the order
    given, as in a loop."""
    return np.bincount(rows, weights, queries).astype(np.float64)


def places(rows: Ints) -> Ints:
    """For each value of `rows`, the number of equal values before it: int64[n]. `rows` are ascending and at
    least 0."""
    counts = np.bincount(rows)
    return np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
