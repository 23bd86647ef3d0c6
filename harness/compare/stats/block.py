"""One measure on one dataset: the values of several systems over the same queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.scoring.measures.names import Average

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Block(NamedTuple):
    """A query's value is part / whole, 0 where there is no whole; `whole` is 1 but for ratios of sums."""

    part: Floats  # float64[Q, S]
    whole: Floats  # float64[Q, S]
    average: Average

    @property
    def scale(self) -> float:
        """What a mean over queries is multiplied by: a sum is a mean of so many."""
        return float(len(self.part)) if self.average == "sum" else 1.0


def values(block: Block) -> Floats:
    """float64[Q, S]: the value of each query, by which queries are won and lost."""
    return ratio(block.part, block.whole)


def levels(block: Block) -> Floats:
    """float64[S]: the number that a leaderboard shows."""
    if block.average == "ratio":
        return ratio(block.part.sum(axis=0), block.whole.sum(axis=0))
    return np.asarray(values(block).mean(axis=0) * block.scale)


def pseudo_values(block: Block) -> Floats:
    """float64[Q, S]: values with the mean `levels` / scale. Of a ratio of sums R = sum(n) / sum(d) they are
    R + (n - R d) / mean(d), whose variance is the ratio's to first order (Cochran 1977, equation 6.13)."""
    if block.average != "ratio":
        return values(block)
    whole = block.whole.mean(axis=0)
    level = levels(block)
    return level + ratio(block.part - level * block.whole, np.broadcast_to(whole, block.part.shape))


def ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
