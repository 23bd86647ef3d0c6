"""What a pair of systems shows over the same queries: t, Wilcoxon, effect size, wins, what could be seen."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from harness.compare.stats.block import Floats
    from harness.types import Ints

SAME = 1e-9  # a difference below it is rounding: the query is a tie
DECIMALS = 12  # of differences that are ranked, so that rounding breaks no tie
POWER = 0.8


class Test(NamedTuple):
    statistic: float
    p: float  # two-sided


def t_test(differences: Floats) -> Test:
    """Student's paired t-test; without any difference p is 1."""
    mean, deviation = _moments(differences)
    if deviation == 0:
        return Test(0.0, 1.0) if mean == 0 else Test(math.copysign(math.inf, mean), 0.0)
    t = mean / (deviation / math.sqrt(len(differences)))
    return Test(t, student_two_sided(t, len(differences) - 1))


def wilcoxon(differences: Floats) -> Test:
    """Wilcoxon's signed-rank test as SciPy's default has it: queries without a difference are left out, ties
    have their mean rank; exact up to 13 queries, and up to 50 without zeros and ties, else by the normal
    approximation with its variance corrected for ties."""
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
    """Hedges' g of paired differences: d_z = mean / deviation (Cohen 1988), times the exact correction for
    few queries (Hedges 1981, equation 6e). 0 without a difference, infinite if all differ alike."""
    mean, deviation = _moments(differences)
    if deviation == 0:
        return 0.0 if mean == 0 else math.copysign(math.inf, mean)
    df = len(differences) - 1
    correction = (
        math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2) if df > 1 else 0.0
    )
    return mean / deviation * correction


def outcomes(differences: Floats) -> tuple[int, int, int]:
    """Queries won, tied and lost."""
    won, lost = int(np.count_nonzero(differences > SAME)), int(np.count_nonzero(differences < -SAME))
    return won, len(differences) - won - lost, lost


def detectable(differences: Floats, alpha: float) -> float | None:
    """The smallest mean difference that a t-test of size alpha over as many queries, differing as these do,
    finds with a power of 0.8; None where two queries are not there."""
    if len(differences) < 2 or not 0 < alpha < 1:
        return None
    return detectable_shift(len(differences), alpha, POWER) * _moments(differences)[1]


def normal_two_sided(z: float) -> float:
    """P(|Z| >= |z|) of the standard normal."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) of Student's t."""
    from scipy.special import stdtr  # half a second that only `compare` pays

    return float(2 * stdtr(df, -abs(t)))


@functools.cache
def detectable_shift(queries: int, alpha: float, power: float) -> float:
    """The smallest mean, in standard deviations of the differences, that a paired t-test of size alpha over
    so many queries finds with this power. The square of a noncentral t is a noncentral F of (1, df)."""
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
    """Mean and deviation (n - 1); no deviation where all are alike but for rounding."""
    mean = float(differences.mean())
    deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if deviation <= 1e-14 * abs(mean):
        return mean, 0.0
    return mean, deviation


def _ranks(sizes: Floats) -> tuple[Floats, Ints]:
    """float64[n]: the rank of each, the mean of their ranks for equal ones; how many there are of each."""
    _, group, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (last - (ties - 1) / 2)[group], ties


def _exact_p(ranks: Floats, statistic: float) -> float:
    """P(2 times the smaller tail): the number of sign patterns by their sum of ranks, counted in halves."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    patterns = [1] + [0] * int(doubled.sum())  # whole numbers of any size: 2^50 patterns and more
    for rank in doubled.tolist():
        for total in range(len(patterns) - 1, rank - 1, -1):
            patterns[total] += patterns[total - rank]
    below = sum(patterns[: round(2 * statistic) + 1])
    return float(min(1.0, 2 * below / 2 ** len(doubled)))
