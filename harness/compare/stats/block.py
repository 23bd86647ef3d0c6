"""One measure on one dataset: the values of several systems over the same queries."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.scoring.measures.names import Average

Floats: TypeAlias = NDArray[np.float64]


class Block(NamedTuple):
    """The values of one measure. A query's value is part / whole, or 0 if `whole` is 0. `whole` is 1 for
    every measure that is not a ratio of sums."""

    part: Floats  # float64[Q, S]
    whole: Floats  # float64[Q, S]
    average: Average

    @property
    def scale(self) -> float:
        """The factor from a mean over queries to the measure: the number of queries for a sum, else 1."""
        return float(len(self.part)) if self.average == "sum" else 1.0


def values(block: Block) -> Floats:
    """float64[Q, S]: the value of each query, by which queries are won and lost."""
    return ratio(block.part, block.whole)


def levels(block: Block) -> Floats:
    """float64[S]: the number of each system that a leaderboard shows."""
    if block.average == "ratio":
        return ratio(block.part.sum(axis=0), block.whole.sum(axis=0))
    return np.asarray(values(block).mean(axis=0) * block.scale)


def pseudo_values(block: Block) -> Floats:
    """float64[Q, S]: values whose mean is `levels` / scale. For a ratio of sums R = sum(n) / sum(d), they are
    R + (n - R d) / mean(d), whose variance is the ratio's to first order (Cochran 1977, equation 6.13)."""
    if block.average != "ratio":
        return values(block)
    whole = block.whole.mean(axis=0)
    level = levels(block)
    return level + ratio(block.part - level * block.whole, np.broadcast_to(whole, block.part.shape))


def ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
