"""Finds nearly equal texts: MinHash bands give candidate pairs, and their shingles decide (Broder 1997)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

BANDS, ROWS = 16, 4  # two texts of similarity .8 share a band with a probability of .9998; at .5 it is .64
_LENGTH = BANDS * ROWS


def band_keys(data: NDArray[np.uint8], bounds: NDArray[np.int64], shingle: int, characters: bool) -> Any:
    """uint64[n, BANDS]: the keys of the texts `data[bounds[i] : bounds[i + 1]]` in UTF-8. Two texts with a
    key in common are a candidate pair. Texts without a shingle have the keys of an empty set."""
    random = np.random.default_rng(0)
    factors = (random.integers(0, 2**32, _LENGTH, np.uint32) | np.uint32(1)).astype(np.uint32)
    added = random.integers(0, 2**32, _LENGTH, np.uint32)
    return _kernels()[0](data, bounds, shingle, characters, factors, added)


def similarities(
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    pairs: NDArray[np.int64],
    shingle: int,
    characters: bool,
) -> Any:
    """float64[pairs]: the Jaccard similarity of the shingles of each pair of texts, int64[pairs, 2]."""
    return _kernels()[1](data, bounds, pairs, shingle, characters)


@functools.cache
def _kernels() -> Any:
    """The functions `keys` and `compared`, compiled when they are first used."""

    @njit(cache=True)
    def mixed(value: np.uint64) -> Any:
        """The finalizer of MurmurHash3 for 64 bits."""
        value ^= value >> np.uint64(33)
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(33)
        value *= np.uint64(0xC4CEB9FE1A85EC53)
        value ^= value >> np.uint64(33)
        return value

    @njit(cache=True)
    def tokens_of(data: Any, start: int, stop: int, characters: bool, hashes: Any) -> int:
        """Put the hash of each word, or of each visible character, into `hashes`; return how many. A word is
        a run of ASCII letters and digits, in lower case, and of bytes beyond ASCII."""
        count = 0
        value = np.uint64(0)
        inside = False
        for i in range(start, stop):
            byte = data[i]
            if 65 <= byte <= 90:
                byte += 32
            letter = byte >= 128 or 97 <= byte <= 122 or 48 <= byte <= 57
            begins = characters and (byte < 128 or byte >= 192)  # not a byte inside a character
            if inside and (not letter or begins):
                hashes[count] = mixed(value)
                count += 1
                inside, value = False, np.uint64(0)
            if letter:
                value = (value ^ np.uint64(byte)) * np.uint64(0x100000001B3) + np.uint64(1)
                inside = True
        if inside:
            hashes[count] = mixed(value)
            count += 1
        return count

    @njit(cache=True)
    def shingles_of(hashes: Any, count: int, shingle: int) -> int:
        """Replace the hashes of tokens by hashes of shingles, in place; return how many. A text that is
        shorter than a shingle is itself one shingle."""
        if count == 0:
            return 0
        width = min(shingle, count)
        for i in range(count - width + 1):
            value = np.uint64(0)
            for j in range(width):
                value = mixed(value * np.uint64(31) + hashes[i + j])
            hashes[i] = value
        return count - width + 1

    @njit(cache=True, fastmath=False)
    def keys(data: Any, bounds: Any, shingle: int, characters: bool, factors: Any, added: Any) -> Any:
        texts = len(bounds) - 1
        made = np.empty((texts, BANDS), np.uint64)
        longest = np.int64(0)
        for i in range(texts):
            longest = max(longest, bounds[i + 1] - bounds[i])
        hashes = np.empty(longest + 1, np.uint64)
        least = np.empty(len(factors), np.uint32)
        nothing = np.uint32(0xFFFFFFFF)
        for i in range(texts):
            count = tokens_of(data, bounds[i], bounds[i + 1], characters, hashes)
            count = shingles_of(hashes, count, shingle)
            least[:] = nothing
            for j in range(count):
                low = np.uint32(hashes[j] & np.uint64(0xFFFFFFFF))
                for k in range(len(factors)):
                    value = np.uint32(low * factors[k] + added[k])
                    least[k] = min(least[k], value)
            for band in range(BANDS):
                key = np.uint64(band + 1)
                for row in range(ROWS):
                    key = mixed(key * np.uint64(31) + np.uint64(least[band * ROWS + row]))
                made[i, band] = key
        return made

    @njit(cache=True)
    def distinct(data: Any, start: int, stop: int, shingle: int, characters: bool) -> Any:
        hashes = np.empty(stop - start + 1, np.uint64)
        count = tokens_of(data, start, stop, characters, hashes)
        count = shingles_of(hashes, count, shingle)
        sorted_hashes = np.sort(hashes[:count])
        kept = 0
        for i in range(count):
            if i == 0 or sorted_hashes[i] != sorted_hashes[i - 1]:
                sorted_hashes[kept] = sorted_hashes[i]
                kept += 1
        return sorted_hashes[:kept]

    @njit(cache=True)
    def compared(data: Any, bounds: Any, pairs: Any, shingle: int, characters: bool) -> Any:
        values = np.empty(len(pairs), np.float64)
        for i in range(len(pairs)):
            first, second = pairs[i, 0], pairs[i, 1]
            one = distinct(data, bounds[first], bounds[first + 1], shingle, characters)
            two = distinct(data, bounds[second], bounds[second + 1], shingle, characters)
            shared = a = b = 0
            while a < len(one) and b < len(two):
                if one[a] == two[b]:
                    shared += 1
                    a += 1
                    b += 1
                elif one[a] < two[b]:
                    a += 1
                else:
                    b += 1
            either = len(one) + len(two) - shared
            values[i] = shared / either if either else 1.0
        return values

    return keys, compared
