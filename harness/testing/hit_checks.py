"""Checks on the hits of any method, and comparisons between hits."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from harness.errors import ContractError
from harness.scoring import ranking
from harness.testing.subject import Broken, require
from harness.types import Hits, Ints


def check(hits: Hits, *, queries: int, k: int, size: int, unit: str, allowed: Ints | None = None) -> Hits:
    """Returns the hits, sorted as the harness sorts them, if it accepts them, they are of the unit `unit`,
    and only at `allowed` positions. Otherwise raises `Broken`."""
    require(isinstance(hits, Hits), f"it returns a {type(hits).__name__}, not Hits")
    require(hits.unit == unit, f"its hits have the unit {hits.unit}; they must be {unit}s")
    try:
        ids = np.arange(size, dtype=np.int32)
        ranked = ranking.canonical(hits, size=size, rank_of_id=ids, depth=k, queries=queries, most_columns=k)
    except ContractError as broken:
        raise Broken(str(broken)) from None
    if allowed is not None:
        not_allowed = np.setdiff1d(ranked.passages[ranked.passages >= 0], allowed)
        require(len(not_allowed) == 0, f"it returns position {not_allowed[:1]}, which is not a candidate")
    return ranked


def of(hits: Hits, row: int) -> dict[int, float]:
    """Position -> score, for one query."""
    filled = hits.passages[row] >= 0
    return dict(zip(hits.passages[row][filled].tolist(), hits.scores[row][filled].tolist(), strict=True))


def same_scores(one: NDArray[np.floating], other: NDArray[np.floating], tolerance: float) -> bool:
    """Whether two arrays of scores are equal within the tolerance."""
    scale = np.maximum(1, np.maximum(np.abs(one), np.abs(other)))
    return one.shape == other.shape and bool((np.abs(one - other) <= tolerance * scale).all())


def same(one: dict[int, float], other: dict[int, float], tolerance: float) -> bool:
    """Whether two rows hold the same positions with the same scores within the tolerance."""
    if one.keys() != other.keys():
        return False
    pairs = np.array([(one[position], other[position]) for position in one], np.float64).reshape(-1, 2)
    return same_scores(pairs[:, 0], pairs[:, 1], tolerance)


def digest(hits: Hits) -> str:
    """A digest of the hits' bytes that ignores scores at -1."""
    scores = np.where(hits.passages >= 0, hits.scores, np.float32(0))
    return hashlib.sha256(hits.passages.tobytes() + scores.tobytes() + hits.unit.encode()).hexdigest()
