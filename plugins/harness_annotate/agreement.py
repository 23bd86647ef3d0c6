"""The agreement of annotators beyond chance: Cohen's and Fleiss' kappa, and Krippendorff's alpha."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Weights: TypeAlias = Literal["none", "linear", "quadratic"]


def cohen(first: Array, second: Array, weights: Weights = "none") -> float | None:
    """Kappa of two people over the pairs that both judged (Cohen 1960, 1968). `first` and `second` are [n].
    None if kappa is not defined: without pairs, or with a single grade."""
    values = np.unique(np.concatenate([first, second]))
    if not len(first) or len(values) < 2:
        return None
    size = len(values)
    table = np.zeros((size, size))
    np.add.at(table, (np.searchsorted(values, first), np.searchsorted(values, second)), 1)
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    apart = {"none": (steps > 0).astype(float), "linear": steps, "quadratic": steps**2}[weights]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(first)
    return float(1 - (apart * table).sum() / (apart * expected).sum())


def fleiss(counts: Array) -> float | None:
    """Kappa of pairs that were all judged by the same number of people (Fleiss 1971). `counts` is [n, k]: how
    many people gave pair i the grade j. None if kappa is not defined."""
    if not len(counts):
        return None
    people = counts[0].sum()
    if people < 2:
        return None
    shares = counts.sum(axis=0) / counts.sum()
    by_chance = float((shares**2).sum())
    if by_chance == 1:
        return None
    observed = ((counts**2).sum(axis=1) - people) / (people * (people - 1))
    return float((observed.mean() - by_chance) / (1 - by_chance))


def krippendorff(counts: Array, values: Array, level: Level) -> float | None:
    """Alpha (Krippendorff 2011, section C). `counts` is [n, k]: how many people gave pair i the grade
    values[j]. Pairs may have different numbers of judgements. None if alpha is not defined."""
    paired = counts[counts.sum(axis=1) > 1]
    people = paired.sum(axis=1, keepdims=True)  # [n, 1]
    if not len(paired):
        return None
    coincidences = (paired / (people - 1)).T @ paired - np.diag((paired / (people - 1)).sum(axis=0))  # [k, k]
    totals = coincidences.sum(axis=1)  # [k]
    apart = _distances(totals, values, level)
    expected = float((apart * np.outer(totals, totals)).sum() / (totals.sum() - 1))
    if expected == 0:
        return None
    return float(1 - (apart * coincidences).sum() / expected)


def _distances(totals: Array, values: Array, level: Level) -> Array:
    """[k, k]: the squared differences of all pairs of grades."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "interval":
        return np.asarray(np.subtract.outer(values, values) ** 2)
    middles = np.cumsum(totals) - totals / 2  # the mean ranks of the grades
    return np.asarray(np.subtract.outer(middles, middles) ** 2)


def counts_of(ratings: list[list[int]]) -> tuple[Array, Array]:
    """[n, k] and [k]: how many people gave each grade to each pair; and the grades."""
    values = np.unique(np.array([grade for grades in ratings for grade in grades], float))
    counts = np.zeros((len(ratings), len(values)))
    for row, grades in enumerate(ratings):
        np.add.at(counts[row], np.searchsorted(values, np.array(grades, float)), 1)
    return counts, values
