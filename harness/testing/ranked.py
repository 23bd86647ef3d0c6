"""What must be true of any hits, whoever returned them, and how hits are compared."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import ContractError
from harness.scoring import ranking
from harness.testing.subject import require
from harness.types import Hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints


def check(hits: Hits, *, queries: int, k: int, size: int, unit: str, allowed: Ints | None = None) -> Hits:
    """The hits, if they are what the harness takes and more: sorted, filled at the end, of that unit and
    only of the `allowed` positions."""
    require(isinstance(hits, Hits), f"it returns a {type(hits).__name__}, no Hits")
    require(hits.unit == unit, f"its hits say that they are of {hits.unit}s and are of {unit}s")
    try:
        ids = np.arange(size, dtype=np.int32)
        ranking.canonical(hits, size=size, rank_of_id=ids, depth=k, queries=queries, asked=k)
    except ContractError as broken:
        require(False, str(broken))
    there = hits.passages >= 0
    require(not (there[:, 1:] & ~there[:, :-1]).any(), "a short row has its -1 before a hit")
    scores = np.where(there, hits.scores, -np.inf)
    falling = (scores[:, 1:] <= scores[:, :-1]) | ~there[:, 1:]
    require(falling.all(), "its hits are not sorted best first")
    if allowed is not None:
        strange = np.setdiff1d(hits.passages[there], allowed)
        require(len(strange) == 0, f"it returns position {strange[:1]}, which is no candidate")
    return hits


def of(hits: Hits, row: int) -> dict[int, float]:
    """Position -> score of one query."""
    there = hits.passages[row] >= 0
    return dict(zip(hits.passages[row][there].tolist(), hits.scores[row][there].tolist(), strict=True))


def same_scores(one: NDArray[np.floating], other: NDArray[np.floating], tolerance: float) -> bool:
    """Whether two arrays of scores are equal but for rounding."""
    scale = np.maximum(1, np.maximum(np.abs(one), np.abs(other)))
    return one.shape == other.shape and bool((np.abs(one - other) <= tolerance * scale).all())


def same(one: dict[int, float], other: dict[int, float], tolerance: float) -> bool:
    """Whether two rows hold the same positions with the same scores but for rounding."""
    if one.keys() != other.keys():
        return False
    pairs = np.array([(one[position], other[position]) for position in one], np.float64).reshape(-1, 2)
    return same_scores(pairs[:, 0], pairs[:, 1], tolerance)


def digest(hits: Hits) -> str:
    """What two equal results have in common, byte by byte; what stands at a -1 counts for nothing."""
    there = hits.passages >= 0
    scores = np.where(there, hits.scores, np.float32(0))
    return hashlib.sha256(hits.passages.tobytes() + scores.tobytes() + hits.unit.encode()).hexdigest()
