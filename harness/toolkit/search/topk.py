"""Compiled loops that find the k best of many scores, exactly, with ties broken by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba as nb
import numpy as np
from numpy.typing import NDArray

LEAP, STEP = 1024, 64  # scores are scanned in leaps; a leap with a score above the threshold, in steps
NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)  # the key of an empty place: worse than any other key
Loop = TypeVar("Loop", bound=Callable[..., Any])
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


def inner(signature: Any) -> Callable[[Loop], Loop]:
    """`numba.njit` for a loop that only other compiled loops call. The wrapper for calls from Python is left
    out, because it takes longer to compile than most such loops."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    decorate: Callable[[Loop], Loop] = nb.njit(signature, nogil=True, cache=True, **options)
    return decorate


@inner(nb.uint64(nb.float32, nb.int64))
def key_of(score: np.float32, position: int) -> np.uint64:
    """A number that is smaller for a better score and, among equal scores, for an earlier position. Scores
    are not negative, so their bits sort as the scores do."""
    return ((_LOW - np.uint64(np.float32(score).view(np.uint32))) << _SHIFT) | np.uint64(position)


@inner(nb.float32(nb.uint64))
def score_of(key: np.uint64) -> np.float32:
    return np.uint32(_LOW - (key >> _SHIFT)).view(np.float32)


def decode(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The positions and scores of keys; -1 and 0 for NOTHING."""
    nothing = keys == NOTHING
    scores = (np.uint32(0xFFFFFFFF) - (keys >> _SHIFT).astype(np.uint32)).view(np.float32)
    return np.where(nothing, -1, (keys & _LOW).astype(np.int64)), np.where(nothing, np.float32(0), scores)


@inner(nb.void(nb.uint64[::1], nb.int64, nb.int64))
def select(keys: NDArray[np.uint64], size: int, k: int) -> None:
    """Brings the k smallest of keys[:size] to the front, in any order (Hoare's algorithm 65, 1961)."""
    low, high = 0, size - 1
    while low < high:
        pivot = keys[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


@inner(nb.float32(nb.uint64[::1], nb.int64, nb.int64))
def trim(keys: NDArray[np.uint64], size: int, k: int) -> np.float32:
    """Brings the k best of at least k keys to the front, and returns the worst score among them."""
    select(keys, size, k)
    worst = keys[0]
    for i in range(k):
        worst = max(worst, keys[i])
    return score_of(worst)


@inner(nb.int64(nb.uint64[::1], nb.int64, nb.float32))
def keep(keys: NDArray[np.uint64], size: int, threshold: np.float32) -> int:
    """Removes from keys[:size] the keys whose scores do not exceed the threshold, and returns how many are
    left."""
    kept = 0
    for i in range(size):
        if score_of(keys[i]) > threshold:
            keys[kept] = keys[i]
            kept += 1
    return kept


@inner(nb.int64(nb.float32[::1], nb.int64, nb.int64, nb.float32))
def above(scores: NDArray[np.float32], first: int, last: int, threshold: np.float32) -> int:
    """How many of scores[first:last] exceed the threshold. The loop is written in the one form that LLVM
    vectorises."""
    part, count = scores[first:last], np.int32(0)
    for i in range(len(part)):
        count = np.int32(count + np.int32(part[i] > threshold))
    return int(count)


@inner(nb.float32(nb.float32[::1], nb.int64, nb.int64, nb.float32))
def raised(scores: NDArray[np.float32], count: int, k: int, highest: np.float32) -> np.float32:
    """A threshold that at least k of scores[:count] exceed, or 0. Halving the interval seeks one that few
    more than k exceed."""
    low, high = np.float32(0), highest
    for _ in range(12):
        middle = np.float32(0.5) * (low + high)
        exceed = above(scores, 0, count, middle)
        if exceed >= k:
            low = middle
            if exceed <= k + (k >> 2):
                break
        else:
            high = middle
    return low


@inner(nb.int64(nb.float32[::1], nb.int64, nb.float32, nb.uint16[::1], nb.float32[::1]))
def drain(
    scores: NDArray[np.float32],  # float32[at most 65,536]
    count: int,
    threshold: np.float32,
    candidates: NDArray[np.uint16],  # out
    reached: NDArray[np.float32],  # out
) -> int:
    """Copies the places and values of all scores[:count] above the threshold to `candidates` and `reached`,
    sets every score back to 0, and returns how many were copied."""
    n = 0
    for begin in range(0, count, LEAP):
        end = min(begin + LEAP, count)
        if above(scores, begin, end, threshold):
            for first in range(begin, end, STEP):
                last = min(first + STEP, end)
                if above(scores, first, last, threshold):
                    for i in range(first, last):
                        if scores[i] > threshold:
                            candidates[n], reached[n] = i, scores[i]
                            n += 1
        scores[begin:end] = 0
    return n
