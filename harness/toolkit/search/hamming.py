"""Exact search over binary codes: the codes that differ from a query's code in the fewest bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from harness.toolkit.neural import hardware
from harness.toolkit.search.exact import spread
from harness.toolkit.search.exact_kernels import loop
from harness.toolkit.search.topk import NOTHING, select

if TYPE_CHECKING:
    from harness.types import Ints

TILE = 2048  # codes that are compared with all queries of a thread before the next ones
FEW = 3  # up to this many queries, turning the codes takes longer than it saves
STEP = 64  # distances that are checked at once
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


def search(
    queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int, *, threads: int | None = None
) -> tuple[Ints, Ints]:
    """The places of the k nearest codes (uint8[N, b]) of each query's code (uint8[Q, b]), and the numbers of
    bits in which they differ: nearest first, ties by place. Both int64[Q, min(k, N)]. The result does not
    depend on the number of threads."""
    k, threads = min(k, len(codes)), threads or hardware.threads()
    asked, words = _words(queries), _words(codes)
    if k == 0 or len(asked) == 0:
        return np.empty((len(asked), k), np.int64), np.empty((len(asked), k), np.int64)
    few = len(asked) < 2 * threads  # each thread then takes some of the codes, otherwise some of the queries

    def work(start: int, end: int) -> NDArray[np.uint64]:
        mine, first, last = (asked, start, end) if few else (asked[start:end], 0, len(words))
        keys = np.full((len(mine), k + max(k // 2, 64)), NOTHING, np.uint64)
        nearest(mine, words, first, last, k, keys)
        keys.sort(axis=1)
        return keys[:, :k]

    parts = spread(len(words) if few else len(asked), threads, work, each=1)
    keys = np.concatenate(parts, axis=1 if few else 0)
    keys.sort(axis=1)
    keys = keys[:, :k]
    return (keys & _LOW).astype(np.int64), (keys >> _SHIFT).astype(np.int64)


def _words(codes: NDArray[np.uint8]) -> NDArray[Any]:
    """The same bits in the largest words that fit, read-only: loops are then compiled for few types."""
    width = next(size for size in (8, 4, 1) if codes.shape[1] % size == 0)
    words = np.ascontiguousarray(codes).view(np.ndarray).view(f"u{width}")
    words.flags.writeable = False
    return words


def _popcount(typing: Any, word: Any) -> Any:
    """The number of ones in a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


_ones: Any = intrinsic(_popcount)


@loop()
def nearest(
    queries: NDArray[Any],  # [Q, w]: words
    codes: NDArray[Any],  # [N, w]
    first: int,  # the codes first to last - 1 are compared
    last: int,
    k: int,
    keys: NDArray[np.uint64],  # uint64[Q, room], out: distance and place of at least the k nearest
) -> None:
    far, turned = np.empty(TILE, np.int32), np.empty((codes.shape[1], TILE), codes.dtype)
    sizes, floors = np.zeros(len(queries), np.int64), np.full(len(queries), 1 << 30, np.int32)
    for begin in range(first, last, TILE):
        count = min(TILE, last - begin)
        for i in range(count if len(queries) > FEW else 0):
            for j in range(codes.shape[1]):
                turned[j, i] = codes[begin + i, j]
        for q in range(len(queries)):
            query, size, floor = queries[q], sizes[q], floors[q]
            for i in range(count if len(queries) <= FEW else 0):
                bits = np.int32(0)
                for j in range(len(query)):
                    bits = np.int32(bits + np.int32(_ones(query[j] ^ codes[begin + i, j])))
                far[i] = bits
            if len(queries) > FEW:  # the same by columns, which LLVM vectorises
                far[:] = 0
                for j in range(len(query)):
                    word, column = query[j], turned[j]
                    for i in range(TILE):
                        far[i] += _ones(word ^ column[i])
            for start in range(0, count, STEP):
                end = min(start + STEP, count)
                least = far[start]
                for i in range(start + 1, end):
                    least = min(least, far[i])
                if least >= floor:
                    continue
                for i in range(start, end):
                    if far[i] < floor:
                        keys[q, size] = (np.uint64(far[i]) << _SHIFT) | np.uint64(begin + i)
                        size += 1
                        if size == keys.shape[1]:
                            select(keys[q], size, k)
                            size, worst = k, np.uint64(0)
                            for n in range(k):
                                worst = max(worst, keys[q, n])
                            keys[q, k:] = NOTHING
                            floor = np.int32(worst >> _SHIFT)
            sizes[q], floors[q] = size, floor
