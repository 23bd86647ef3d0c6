"""Statistics of a pair of systems over the same queries: t, Wilcoxon, effect size, wins, detectability."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from harness.compare.stats.block import Floats
from harness.types import Ints

SAME = 1e-9  # a smaller difference is rounding, so the query is a tie
DECIMALS = 12  # differences are rounded to these before ranking, so that equal ones stay tied
POWER = 0.8


class Test(NamedTuple):
    statistic: float
    p: float  # two-sided


def t_test(differences: Floats) -> Test:
    """Student's paired t-test. If no query differs, p is 1."""
    mean, deviation = _moments(differences)
    if deviation == 0:
        return Test(0.0, 1.0) if mean == 0 else Test(math.copysign(math.inf, mean), 0.0)
    t = mean / (deviation / math.sqrt(len(differences)))
    return Test(t, student_two_sided(t, len(differences) - 1))


def wilcoxon(differences: Floats) -> Test:
    """Wilcoxon's signed-rank test, as SciPy's default computes it: queries without a difference are left out,
    and ties have their mean rank. The test is exact up to 13 queries, and up to 50 without zeros and ties;
    otherwise it is the normal approximation, with its variance corrected for ties."""
    rounded = np.round(differences, DECIMALS)
    nonzero = rounded[rounded != 0]
    if len(nonzero) == 0:
        return Test(0.0, 1.0)
    ranks, ties = _ranks(np.abs(nonzero))
    above = float(ranks[nonzero > 0].sum())
    n = len(nonzero)
    plain = n == len(rounded) and int(ties.max()) == 1
    statistic = min(above, n * (n + 1) / 2 - above)
    if len(rounded) <= 13 or (plain and n <= 50):
        return Test(statistic, _exact_p(ranks, statistic))
    spread = (n * (n + 1.0) * (2 * n + 1) - float((ties.astype(np.float64) ** 3 - ties).sum()) / 2) / 24
    return Test(statistic, normal_two_sided((above - n * (n + 1) / 4) / math.sqrt(spread)))


def effect(differences: Floats) -> float:
    """Hedges' g of paired differences: d_z = mean / deviation (Cohen 1988), times the correction for few
    queries (Hedges 1981, equation 6e). 0 if no query differs, infinite if all differ by the same amount."""
    mean, deviation = _moments(differences)
    if deviation == 0:
        return 0.0 if mean == 0 else math.copysign(math.inf, mean)
    df = len(differences) - 1
    correction = (
        math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2) if df > 1 else 0.0
    )
    return mean / deviation * correction


def outcomes(differences: Floats) -> tuple[int, int, int]:
    """The numbers of queries won, tied and lost."""
    won, lost = int(np.count_nonzero(differences > SAME)), int(np.count_nonzero(differences < -SAME))
    return won, len(differences) - won - lost, lost


def detectable(differences: Floats, alpha: float) -> float | None:
    """The smallest mean difference that a t-test at level `alpha` finds with a power of 0.8, over as many
    queries with the same deviation. None for fewer than two queries."""
    if len(differences) < 2 or not 0 < alpha < 1:
        return None
    return detectable_shift(len(differences), alpha, POWER) * _moments(differences)[1]


def normal_two_sided(z: float) -> float:
    """P(|Z| >= |z|) for a standard normal Z."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t with `df` degrees of freedom."""
    from scipy.special import stdtr  # the import takes half a second, which only `compare` needs

    return float(2 * stdtr(df, -abs(t)))


@functools.cache
def detectable_shift(queries: int, alpha: float, power: float) -> float:
    """The smallest mean, in standard deviations of the differences, that a paired t-test at level `alpha`
    finds with this power over so many queries. The square of a noncentral t has a noncentral F distribution
    with (1, df) degrees of freedom."""
    from scipy.special import ncfdtr, stdtrit

    df, root = queries - 1, math.sqrt(queries)
    critical = -float(stdtrit(df, alpha / 2))

    def reached(shift: float) -> float:
        return float(1 - ncfdtr(1, df, queries * shift**2, critical**2))

    low, high = 0.0, (critical + 2) / root
    while reached(high) < power:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if reached(middle) < power else (low, middle)
    return high


def _moments(differences: Floats) -> tuple[float, float]:
    """The mean and the deviation (n - 1) of the differences. It is 0 if they are equal up to rounding."""
    mean = float(differences.mean())
    deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if deviation <= 1e-14 * abs(mean):
        return mean, 0.0
    return mean, deviation


def _ranks(sizes: Floats) -> tuple[Floats, Ints]:
    """float64[n]: the rank of each value, where equal values have their mean rank; and the number of values
    in each group of equal ones."""
    _, group, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (last - (ties - 1) / 2)[group], ties


def _exact_p(ranks: Floats, statistic: float) -> float:
    """The exact two-sided p: twice the smaller tail. It counts the sign patterns by their sum of ranks, in
    halves because ties have half ranks."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    patterns = [1] + [0] * int(doubled.sum())  # Python integers, since there can be 2^50 patterns and more
    for rank in doubled.tolist():
        for total in range(len(patterns) - 1, rank - 1, -1):
            patterns[total] += patterns[total - rank]
    below = sum(patterns[: round(2 * statistic) + 1])
    return float(min(1.0, 2 * below / 2 ** len(doubled)))
