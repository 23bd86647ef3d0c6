"""Means and differences over several seeds of a recipe, with errors that count both queries and seeds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Spread(NamedTuple):
    """A mean with its variance, which is a sum of independent parts."""

    value: float
    variances: tuple[float, ...]  # parts of the variance: by queries, then by the seeds of each recipe
    freedoms: tuple[int, ...]  # the degrees of freedom of each part

    @property
    def error(self) -> float:
        return math.sqrt(sum(self.variances))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the whole variance (Welch; Satterthwaite 1946, equation 17)."""
        parts = [v * v / f for v, f in zip(self.variances, self.freedoms, strict=True) if v > 0]
        return float(sum(self.variances) ** 2 / sum(parts)) if parts else math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval over queries and seeds."""
        from scipy.special import stdtrit  # this import takes half a second, so it is done only when needed

        half = self.error * float(stdtrit(self.freedom, 0.975)) if self.error else 0.0
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """The two-sided p-value of the hypothesis that the true value is 0."""
        if not self.error:
            return 1.0 if self.value == 0 else 0.0
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.value) / self.error))


def mean(values: Floats) -> Spread:
    """The mean of the values of each query with each seed, float64[S, Q]. Queries and seeds are both random
    and crossed. The variance of the mean has two parts (Brennan 2001, section 2): the variance over queries
    of each query's mean over seeds, and the variance over seeds of each seed's mean over queries. The
    interaction of queries and seeds counts in both parts, which errs on the safe side."""
    return difference(values, np.zeros((1, values.shape[1])))


def difference(first: Floats, second: Floats) -> Spread:
    """The mean of `first`, float64[S, Q], minus the mean of `second`, float64[R, Q], over the same queries.
    Seeds of different recipes are independent. One seed adds no variance, because none is known."""
    each = first.mean(axis=0) - second.mean(axis=0)  # float64[Q]
    count = len(each)
    variances = [float(each.var(ddof=1)) / count if count > 1 else 0.0]
    freedoms = [max(1, count - 1)]
    for values in (first, second):
        if len(values) > 1:
            variances.append(float(values.mean(axis=1).var(ddof=1)) / len(values))
            freedoms.append(len(values) - 1)
    return Spread(float(each.mean()), tuple(variances), tuple(freedoms))
