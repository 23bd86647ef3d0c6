"""Makes the scores of different systems comparable, list by list, with one function per normalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from harness.plugin import Hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]
    Normalise: TypeAlias = Callable[[Hits], Doubles]  # float64[Q, k]; the fill of short rows is not read

LEAST_DIVISOR = 1e-9  # keeps a list of equal scores from a division by zero


def unchanged(hits: Hits) -> Doubles:
    """The scores as they are."""
    return hits.scores.astype(np.float64)


def min_max(hits: Hits) -> Doubles:
    """Each score s as (s - min) / (max - min) of its list."""
    least, greatest = _extremes(hits)
    return (hits.scores - least) / np.maximum(greatest - least, LEAST_DIVISOR)


def by_max(hits: Hits) -> Doubles:
    """Each score s as s / max of its list, so the best passage gets 1. Scores must not be negative."""
    _, greatest = _extremes(hits)
    return hits.scores / np.maximum(greatest, LEAST_DIVISOR)


def by_sum(hits: Hits) -> Doubles:
    """Each score s as (s - min) / sum of (s - min), so the scores of a list add up to 1."""
    least, _ = _extremes(hits)
    above = hits.scores - least
    total = np.where(hits.passages >= 0, above, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(above / np.maximum(total, LEAST_DIVISOR))


def z_score(hits: Hits) -> Doubles:
    """Each score s as (s - mean) / standard deviation, so a list has zero mean and unit variance."""
    filled = hits.passages >= 0
    count = np.maximum(filled.sum(axis=1, keepdims=True), 1)
    scores = np.where(filled, hits.scores, 0.0)
    mean = scores.sum(axis=1, keepdims=True) / count
    variance = np.where(filled, (scores - mean) ** 2, 0.0).sum(axis=1, keepdims=True) / count
    return np.asarray((scores - mean) / np.maximum(np.sqrt(variance), LEAST_DIVISOR))


def by_rank(hits: Hits) -> Doubles:
    """Each score as 1 - (rank - 1) / length of the list, with ranks from 1."""
    length = np.maximum((hits.passages >= 0).sum(axis=1, keepdims=True), 1)
    return np.asarray(1 - np.arange(hits.passages.shape[1]) / length)


NORMALISATIONS: dict[str, Normalise] = {
    "none": unchanged,
    "min-max": min_max,
    "max": by_max,
    "sum": by_sum,
    "z-score": z_score,
    "rank": by_rank,
}


def _extremes(hits: Hits) -> tuple[Doubles, Doubles]:
    """The least and the greatest score of each list, float64[Q, 1]; 0 for an empty list."""
    filled = hits.passages >= 0
    scores = hits.scores.astype(np.float64)
    least = np.where(filled, scores, np.inf).min(axis=1, initial=np.inf, keepdims=True)
    greatest = np.where(filled, scores, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    return np.where(np.isinf(least), 0.0, least), np.where(np.isinf(greatest), 0.0, greatest)
