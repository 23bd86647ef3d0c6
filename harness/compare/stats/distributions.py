"""The few distributions that the tests need, to full precision; importing SciPy would cost a second."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL = NormalDist()
TINY = 1e-300
NODES = 100  # of a piece of an integral
STEPS = 10_000  # of a continued fraction; it takes O(sqrt(df))


def normal_two_sided(z: float) -> float:
    """P(|Z| >= |z|) of the standard normal."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) of Student's t: I_x(df / 2, 1 / 2) at x = df / (df + t^2) (DLMF 8.17.22)."""
    if math.isinf(t):
        return 0.0
    return incomplete_beta(df / 2, 0.5, df / (df + t * t), (t * t) / (df + t * t))


def student_critical(alpha: float, df: float) -> float:
    """The t that P(|T| >= t) = alpha, by bisection: the tail falls strictly."""
    low, high = 0.0, 2.0
    while student_two_sided(high, df) > alpha:
        low, high = high, high * 2
    return _bisected(lambda t: alpha - student_two_sided(t, df), low, high)


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised I_x(a, b); `rest` is 1 - x, given apart because it may be too small to subtract."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * _log(rest, x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _fraction(b, a, rest) / b


def _log(rest: float, x: float) -> float:
    return math.log1p(-x) if x < 0.5 else math.log(rest)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b), by Lentz's method (DLMF 8.17.22, 3.10(iii))."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > TINY else TINY)
    found = d
    for m in range(1, STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > TINY else TINY)
            c = 1 + term / c
            c = c if abs(c) > TINY else TINY
            found *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return found


def power_of_t(shift: float, df: float, critical: float) -> float:
    """P(|T'| >= critical) where T' is noncentral t, that is (Z + shift) / S with df S^2 a chi-square of df:
    the integral over S of the normal tails, by Gauss and Legendre's rule over twelve deviations of S."""
    spread = 12 / math.sqrt(2 * df)
    low, high = (1 - spread, 1 + spread) if spread < 0.9 else (0.0, 1 + 12 / math.sqrt(df))
    # of few queries, the tails change within S = shift / critical, which may be tiny: a piece of its own
    turn = min(max((abs(shift) + 10) / critical, low), high)
    return _integral(low, turn, shift, df, critical) + _integral(turn, high, shift, df, critical)


def _integral(low: float, high: float, shift: float, df: float, critical: float) -> float:
    if high <= low:
        return 0.0
    nodes, weights = _rule()
    s = (high - low) / 2 * nodes + (high + low) / 2
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    density = np.exp(constant + (df - 1) * np.log(s) - df * s * s / 2)
    tails = [NORMAL.cdf(shift - critical * x) + NORMAL.cdf(-shift - critical * x) for x in s.tolist()]
    return float((high - low) / 2 * np.sum(weights * density * np.array(tails)))


@functools.cache
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found: tuple[NDArray[np.float64], NDArray[np.float64]] = np.polynomial.legendre.leggauss(NODES)
    return found


@functools.cache
def detectable_shift(queries: int, alpha: float, power: float) -> float:
    """The smallest mean, in standard deviations of the differences, that a paired t-test of size alpha over
    so many queries finds with this power."""
    df, root = queries - 1, math.sqrt(queries)
    critical = student_critical(alpha, df)
    high = (critical + 2) / root
    while power_of_t(high * root, df, critical) < power:
        high *= 2
    return _bisected(lambda d: power_of_t(d * root, df, critical) - power, 0.0, high)


def _bisected(rises: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function passes 0."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if rises(middle) < 0 else (low, middle)
    return (low + high) / 2
