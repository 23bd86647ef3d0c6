"""Estimates a cost as a constant plus multiples of counts, fitted to measured steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

SAME = 0.02  # fits whose mean relative errors differ by less are equally good


def at(
    work: Sequence[Sequence[float]], costs: Sequence[float], wanted: Sequence[float], steady: bool = False
) -> float:
    """The cost of the `wanted` work. `work` has the amounts of work of measured steps, and `costs` their
    costs.

    The cost is a constant plus a multiple of each count; none of them is negative. The fit with the smallest
    relative errors is taken. If few steps were measured, several fits may be equally good, for example growth
    with the queries, and growth with queries times texts. The result is then the geometric mean of the costs
    of these fits. If all measured steps have the same amount of work, the cost is in proportion to the
    amount. A `steady` cost may also be a constant alone.
    """
    counts, known = np.array(work, float), np.maximum(np.array(costs, float), 1e-9)
    amounts = len(np.unique(counts, axis=0))
    rows = np.hstack([np.ones((len(counts), 1)), counts])  # float[n, 1 + counts]
    point = np.array([1.0, *wanted])
    fits: list[tuple[float, float]] = []  # mean relative error, cost
    growing = range(1, rows.shape[1])
    subsets = [chosen for size in growing for chosen in combinations(growing, size)]
    for chosen in [*([(0,)] if steady else []), *subsets, *((0, *chosen) for chosen in subsets)]:
        if len(chosen) > amounts:
            continue
        weighted = rows[:, chosen] / known[:, None]
        factors, *_ = np.linalg.lstsq(weighted, np.ones(len(known)), rcond=None)
        if (factors >= 0).all():
            error = float(np.abs(weighted @ factors - 1).mean())
            fits.append((error, float(point[list(chosen)] @ factors)))
    if not fits:
        return float(known.max())
    best = min(error for error, _ in fits)
    equal = [cost for error, cost in fits if error <= best + SAME]
    return float(np.exp(np.log(np.maximum(equal, 1e-9)).mean()))
