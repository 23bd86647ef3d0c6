"""Compiled loops that number tokens, given as spans of code points: hash, then look up."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

_TEXT = nb.types.Array(nb.uint32, 1, "C", readonly=True)
_M1, _M2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd: golden ratio, xxHash
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@nb.njit(nb.void(_TEXT, nb.int32[::1], nb.int32[::1], nb.uint64[:, ::1]), nogil=True, cache=True)
def hash_spans(
    text: NDArray[np.uint32],  # uint32[C]
    starts: NDArray[np.int32],  # int32[T]
    lengths: NDArray[np.int32],  # int32[T]
    hashes: NDArray[np.uint64],  # uint64[T, 2]: 64 and 32 bits that are independent of each other
) -> None:
    """Fills `hashes` with 96 bits for each token: any two of ten million words collide with odds of 1e-15."""
    for i in range(len(starts)):
        a, b = _M2, _M1
        for j in range(starts[i], starts[i] + lengths[i]):
            c = np.uint64(text[j])
            a = (a ^ c) * _M1
            a ^= a >> _SHIFT
            b = (b + c) * _M2
            b ^= b >> np.uint64(29)
        hashes[i, 0] = max(a * _M2, _ONE)  # 0 marks an empty slot
        hashes[i, 1] = (b * _M1) >> _SHIFT


@nb.njit(
    "int64(uint64[:, ::1], int64, uint64[:, ::1], int64, int64, int32[::1], int64[::1])",
    nogil=True,
    cache=True,
)
def intern(
    hashes: NDArray[np.uint64],  # uint64[T, 2]
    first: int,  # the token to start at
    table: NDArray[np.uint64],  # uint64[2^b, 2]: the first hash, and the second hash above the token's number
    known: int,  # how many different tokens are in the table
    most: int,  # the most different tokens that the table may hold
    numbers: NDArray[np.int32],  # int32[T]: out, the number of each token
    new: NDArray[np.int64],  # int64[...]: out, the count of new tokens, then the first place of each
) -> int:
    """Gives each different token a number, in the order of first appearance. Returns the index of the token
    at which the table was full, or T if all tokens got a number. `new[0]` is the number of new tokens, and
    the next entries of `new` are the indexes of their first appearances."""
    mask = np.uint64(len(table) - 1)
    count = 0
    for i in range(first, len(hashes)):
        a, b = hashes[i, 0], hashes[i, 1]
        slot = (a >> _SHIFT) & mask
        while table[slot, 0] != _ZERO and (table[slot, 0] != a or (table[slot, 1] >> _SHIFT) != b):
            slot = (slot + _ONE) & mask
        if table[slot, 0] == _ZERO:
            if known + count >= most:
                new[0] = count
                return i
            table[slot, 0], table[slot, 1] = a, (b << _SHIFT) | np.uint64(known + count)
            count += 1
            new[count] = i
        numbers[i] = np.int32(table[slot, 1] & _LOW)
    new[0] = count
    return len(hashes)


@nb.njit("void(uint64[:, ::1], uint64[:, ::1])", nogil=True, cache=True)
def rehash(old: NDArray[np.uint64], table: NDArray[np.uint64]) -> None:
    """Copies every entry into a larger, empty table."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(old)):
        if old[i, 0] != _ZERO:
            slot = (old[i, 0] >> _SHIFT) & mask
            while table[slot, 0] != _ZERO:
                slot = (slot + _ONE) & mask
            table[slot, 0], table[slot, 1] = old[i, 0], old[i, 1]
