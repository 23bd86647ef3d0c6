"""Compiled loops of exact search: inner products, always summed in the same way, and the k best of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.toolkit.search.topk import NOTHING, select

if TYPE_CHECKING:
    from harness.types import Floats, Ints

Loop = TypeVar("Loop", bound=Callable[..., Any])
_LEAP, _STEP = 512, 32  # estimates are checked in leaps; a leap with a promising estimate, in steps
_LOW, _SHIFT, _SIGN = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint32(1 << 31)
_SIZE, _TOP, _UP, _INFINITE = np.uint32(0x7FFF), np.uint32(0x7C00), np.uint32(13), np.uint32(0x7F800000)
_HALF, _ROUND, _ONE = np.uint32(16), np.uint32(0x7FFF), np.uint32(1)


def loop(**options: Any) -> Callable[[Loop], Loop]:
    """`numba.njit` that releases the interpreter's lock and caches the compiled code between runs."""
    decorate: Callable[[Loop], Loop] = nb.njit(nogil=True, cache=True, **options)
    return decorate


@loop(fastmath={"reassoc", "contract"})
def dot(x: Floats, y: Floats) -> np.float32:
    """The inner product, in float32. Every score of exact search comes from this function. Therefore a score
    does not depend on how the pair was found: a matrix product rounds differently for every shape."""
    total = np.float32(0)
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@loop()
def key_of(score: np.float32, place: int) -> np.uint64:
    """A number that is smaller for a better score and, among equal scores, for an earlier place. NaN counts
    as the best score, so that it reaches the caller, who refuses it."""
    bits = np.float32(score + np.float32(0)).view(np.uint32)  # + 0 turns -0.0 into 0.0
    rising = np.uint32(~bits) if bits & _SIGN else np.uint32(bits | _SIGN)
    if np.isnan(score):
        rising = np.uint32(0xFFFFFFFF)
    return ((_LOW - np.uint64(rising)) << _SHIFT) | np.uint64(place)


@loop()
def score_of(key: np.uint64) -> np.float32:
    rising = np.uint32(_LOW - (key >> _SHIFT))
    bits = np.uint32(rising & ~_SIGN) if rising & _SIGN else np.uint32(~rising)
    return np.uint32(bits).view(np.float32)


@loop()
def trim(keys: NDArray[np.uint64], size: int, k: int) -> np.float32:
    """Brings the k best of at least k keys to the front, and returns the worst score among them."""
    select(keys, size, k)
    worst = keys[0]
    for i in range(k):
        worst = max(worst, keys[i])
    return score_of(worst)


@loop()
def push(
    keys: NDArray[np.uint64], size: int, key: np.uint64, k: int, floor: np.float32
) -> tuple[int, np.float32]:
    """Adds a key to those of a query, and cuts them to the k best when they fill the array. Returns the
    number of keys and the score that a vector at a later place must exceed."""
    keys[size] = key
    size += 1
    if size == len(keys):
        floor, size = trim(keys, size, k), k
    return size, floor


@loop()
def widen(row: NDArray[Any], half: bool, wide: Floats) -> None:
    """Writes the estimates to `wide` as float32. With `half` they are bfloat16, the upper half of a
    float32."""
    if half:
        for i in range(len(row)):
            wide[i] = np.uint32(np.uint32(row[i]) << _HALF).view(np.float32)
    else:
        for i in range(len(row)):
            wide[i] = row[i]


@loop()
def widened(halves: NDArray[np.uint16], wide: NDArray[np.uint32]) -> None:
    """Writes the bits of float32 numbers to `wide`, from the bits of float16 numbers. numpy does this one
    number at a time."""
    for i in range(len(halves)):
        half = np.uint32(halves[i])
        size = np.uint32((half & _SIZE) << _UP)
        value = np.float32(size.view(np.float32) * np.float32(2.0**112)).view(np.uint32)
        value = value | _INFINITE if half & _TOP == _TOP else value  # infinite or NaN
        wide[i] = value | (half & np.uint32(1 << 15)) << _HALF


@loop()
def reach(wide: Floats, first: int, last: int, cut: np.float32) -> int:
    """How many of wide[first:last] are not below the cut. An estimate also counts if it or the cut is a
    NaN."""
    part, count = wide[first:last], np.int32(0)
    for i in range(len(part)):
        count = np.int32(count + np.int32(not (part[i] < cut)))
    return int(count)


@loop()
def cut_of(floor: np.float32, slack: float, coarse: float) -> np.float32:
    """The lowest estimate that a pair can have whose score exceeds the floor. An estimate is at most `slack`
    below its score, and rounding then changes it by at most `coarse` times its size."""
    lowest = np.float64(floor) - slack
    return np.float32(lowest - coarse * abs(lowest))


@loop()
def scan(
    estimates: NDArray[Any],  # [z - a, at least n]: float32, or bfloat16 as uint16
    half: bool,  # whether the estimates are bfloat16
    coarse: float,
    slack: NDArray[np.float64],  # float64[Q]
    queries: Floats,  # float32[Q, d]
    a: int,  # the estimates belong to the queries a to z - 1
    z: int,
    vectors: Floats,  # float32[n, d]
    base: int,  # the place of the first vector
    k: int,
    keys: NDArray[np.uint64],  # uint64[Q, room], in and out: the best so far, in any order
    sizes: Ints,  # int64[Q], in and out: how many keys there are
    floors: Floats,  # float32[Q], in and out: the score that a vector at a later place must exceed
) -> int:
    """Scores each pair whose estimate allows it to be among the k best. Returns how many pairs were scored in
    vain."""
    wide, wasted = np.empty(_LEAP, np.float32), 0
    for q in range(a, z):
        row, size, floor = estimates[q - a], sizes[q], floors[q]
        cut = cut_of(floor, slack[q], coarse)
        for begin in range(0, len(vectors), _LEAP):
            count = min(_LEAP, len(vectors) - begin)
            widen(row[begin : begin + count], half, wide)
            if not reach(wide, 0, count, cut):
                continue
            for first in range(0, count, _STEP):
                last = min(first + _STEP, count)
                if not reach(wide, first, last, cut):
                    continue
                for i in range(first, last):
                    if wide[i] < cut:
                        continue
                    score = dot(queries[q], vectors[begin + i])
                    if score <= floor:
                        wasted += 1
                        continue
                    key = key_of(score, base + begin + i)
                    size, higher = push(keys[q], size, key, k, floor)
                    if higher != floor:
                        floor = higher
                        cut = cut_of(floor, slack[q], coarse)
        sizes[q], floors[q] = size, floor
    return wasted


@loop()
def compare(
    queries: Floats,  # float32[Q, d]
    vectors: Floats,  # float32[n, d]
    base: int,
    k: int,
    keys: NDArray[np.uint64],  # keys, sizes and floors as in `scan`
    sizes: Ints,
    floors: Floats,
) -> None:
    """Scores every pair, and keeps the k best of each query."""
    for i in range(len(vectors)):
        for q in range(len(queries)):
            score = dot(queries[q], vectors[i])
            if not (score <= floors[q]):
                key = key_of(score, base + i)
                sizes[q], floors[q] = push(keys[q], sizes[q], key, k, floors[q])


@loop()
def compare_whole(
    queries: Floats,  # float32[Q, d]
    whole: NDArray[np.int16],  # int16[Q, d]: the queries divided by their steps and rounded
    steps: NDArray[np.float64],  # float64[Q]
    slack: NDArray[np.float64],  # float64[Q]: how far an estimate can be off, for a vector of scale 1
    rows: NDArray[np.int8],  # int8[n, d]: the vectors divided by their scales
    scales: Floats,  # float32[n]
    base: int,
    k: int,
    keys: NDArray[np.uint64],  # keys, sizes and floors as in `scan`
    sizes: Ints,
    floors: Floats,
) -> None:
    """Estimates every pair in whole numbers, and scores those that can be among the k best."""
    vector = np.empty(rows.shape[1], np.float32)
    for i in range(len(rows)):
        scale = scales[i]
        for q in range(len(queries)):
            query, row, total = whole[q], rows[i], np.int32(0)
            for j in range(len(row)):
                total = np.int32(total + np.int32(query[j]) * np.int32(row[j]))
            if (total * steps[q] + slack[q]) * scale < floors[q]:
                continue
            for j in range(len(row)):
                vector[j] = np.float32(row[j]) * scale
            score = dot(queries[q], vector)
            if not (score <= floors[q]):
                key = key_of(score, base + i)
                sizes[q], floors[q] = push(keys[q], sizes[q], key, k, floors[q])


@loop()
def score_places(queries: Floats, vectors: Floats, places: Ints, scores: Floats, a: int, z: int) -> None:
    """Fills scores[a:z] with the inner products of each query with the vectors at its places."""
    for q in range(a, z):
        for i in range(places.shape[1]):
            place = places[q, i]
            scores[q, i] = dot(queries[q], vectors[place]) if place >= 0 else -np.inf


@loop(fastmath={"reassoc", "contract"})
def halve(
    vectors: Floats,  # float32[n, d]
    centre: Floats,  # float32[d]
    halves: NDArray[np.uint16],  # uint16[n, d], out: the vectors minus the centre, as bfloat16
) -> tuple[float, float]:
    """Writes the vectors minus the centre into `halves`, rounded to bfloat16. Returns two numbers: the
    largest norm of a vector minus the centre, and the largest norm of the rounding error of such a vector.
    Both are NaN if a number is not finite."""
    norm, lost, poison = np.float32(0), np.float32(0), np.float32(0)
    for i in range(len(vectors)):
        square, missed = np.float32(0), np.float32(0)
        for j in range(vectors.shape[1]):
            value = np.float32(vectors[i, j] - centre[j])
            bits = value.view(np.uint32)
            half = np.uint32((bits + _ROUND + ((bits >> _HALF) & _ONE)) >> _HALF)  # to nearest, ties to even
            halves[i, j] = np.uint16(half)
            rest = value - np.uint32(half << _HALF).view(np.float32)
            square += value * value
            missed += rest * rest
        norm, lost = max(norm, square), max(lost, missed)
        poison += square * np.float32(0)  # stays 0, or becomes and stays NaN
    return np.sqrt(norm) + poison, np.sqrt(lost) + poison


def decode(keys: NDArray[np.uint64]) -> tuple[Ints, Floats]:
    """The places and scores of keys; -1 and -inf for NOTHING."""
    rising = np.uint32(0xFFFFFFFF) - (keys >> _SHIFT).astype(np.uint32)
    bits = np.where(rising >> np.uint32(31) == 1, rising & ~_SIGN, ~rising)
    nothing = keys == NOTHING
    scores = np.where(nothing, np.float32(-np.inf), bits.view(np.float32))
    return np.where(nothing, -1, (keys & _LOW).astype(np.int64)), scores


def encode(scores: Floats, places: Ints) -> NDArray[np.uint64]:
    """The keys of scores and places; NOTHING for a place of -1."""
    bits = (scores + np.float32(0)).view(np.uint32)
    rising = np.where(bits >> np.uint32(31) == 1, ~bits, bits | _SIGN)
    rising[np.isnan(scores)] = 0xFFFFFFFF
    keys = (np.uint32(0xFFFFFFFF) - rising).astype(np.uint64) << _SHIFT | places.astype(np.uint64)
    return np.where(places < 0, NOTHING, keys)
