"""The judgements of each query, best first: what a ranking could have reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints


class Ideal(NamedTuple):
    """All J judgements of Q queries, by query, then by falling grade."""

    queries: int  # Q
    row: Ints  # int64[J]: the query's row among the grades
    grade: NDArray[np.int32]  # int32[J]


def ideal_of(queries: int, row: Ints, grade: NDArray[np.int32]) -> Ideal:
    order = np.lexsort((-grade.astype(np.int64), row))
    return Ideal(queries, row[order], grade[order])


def relevant(ideal: Ideal, rel: int) -> NDArray[np.float64]:
    """float64[Q]: how many judgements of each query reach the grade `rel`."""
    return per_row(ideal.row[ideal.grade >= rel], ideal.queries)


def per_row(rows: Ints, queries: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """float64[Q]: the weights (1 each without) added up by row, in the order given, as a loop would."""
    return np.bincount(rows, weights, queries).astype(np.float64)


def places(rows: Ints) -> Ints:
    """int64[n]: the number of equal values before each in ascending `rows`, which are 0 or more."""
    counts = np.bincount(rows)
    return np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
