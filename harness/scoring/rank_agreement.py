"""The agreement of two lists of scores on an order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists (Kendall 1945): the pairs that both lists order alike minus the pairs that
    they order differently, divided by the geometric mean of the numbers of pairs that each list orders. None
    if a list has only equal scores."""
    same, apart = 0, [0, 0]
    for i, j in itertools.combinations(range(len(first)), 2):
        one, other = _sign(first[i] - first[j]), _sign(second[i] - second[j])
        same += one * other
        apart[0] += one * one
        apart[1] += other * other
    return round(same / math.sqrt(apart[0] * apart[1]), 6) if all(apart) else None


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
