"""Compiled loops that build an index: from the texts of a window to postings, from windows to one index."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

WINDOW = 1 << 16  # texts in a window, so that two bytes hold the text of a posting
PAIRS = 1 << 16  # different (term frequency, length) pairs in a window, so that two bytes hold a pair
SHORTS = nb.types.Array(nb.uint16, 1, "C", readonly=True)
BYTES = nb.types.Array(nb.uint8, 1, "C", readonly=True)


_IN = (nb.int32[::1], nb.int64[::1], nb.float32[::1], nb.float32[::1])
_ROOM = (nb.int32[::1], nb.int32[::1], nb.uint16[::1], nb.float32[::1], nb.uint16[::1], nb.int32[::1])
_OUT = (nb.int32[::1], nb.int32[::1], nb.float64[::1], nb.uint16[::1], nb.float32[::1], nb.float32[::1])


_SIGNATURE = nb.types.UniTuple(nb.int64, 2)(*_IN, *_ROOM, *_OUT)  # type: ignore[no-untyped-call]


@nb.njit(_SIGNATURE, nogil=True, cache=True)
def invert(
    terms: NDArray[np.int32],  # int32[T]: the terms of the window's texts, one text after another
    ends: NDArray[np.int64],  # int64[n]: where each text ends in `terms`
    shares: NDArray[np.float32],  # float32[T]: the weight of each occurrence; empty if all are 1
    lengths: NDArray[np.float32],  # float32[n]
    starts: NDArray[np.int32],  # int32[V + 1]: a buffer of zeros
    cursors: NDArray[np.int32],  # int32[V]: a buffer
    texts: NDArray[np.uint16],  # uint16[T]: out, the text of each posting, by term and then by text
    tf: NDArray[np.float32],  # float32[T]: a buffer
    pairs: NDArray[np.uint16],  # uint16[T]: out, the pair of each posting
    slots: NDArray[np.int32],  # int32[4 * PAIRS]: a buffer of -1, for pairs by hash
    block_term: NDArray[np.int32],  # int32[<= V]: out, the terms that occur, ascending
    block_count: NDArray[np.int32],  # int32[<= V]: out, how many postings each of them has
    block_sum: NDArray[np.float64],  # float64[<= V]: out, how often each of them occurs
    block_peak: NDArray[np.uint16],  # uint16[<= V]: out, the pair of its highest frequency
    pair_tf: NDArray[np.float32],  # float32[PAIRS]: out
    pair_length: NDArray[np.float32],  # float32[PAIRS]: out
) -> tuple[int, int]:
    """Inverts the texts of a window. Returns the number of blocks and the number of pairs, or (-1, 0) if two
    bytes cannot number the pairs."""
    for i in range(len(terms)):  # a counting sort by term, which keeps the order of texts
        starts[terms[i] + 1] += 1
    for t in range(len(cursors)):
        starts[t + 1] += starts[t]
        cursors[t] = starts[t]
    i = 0
    for d in range(len(ends)):
        while i < ends[d]:
            t = terms[i]
            share = shares[i] if len(shares) else np.float32(1)
            c = cursors[t]
            if c > starts[t] and texts[c - 1] == d:
                tf[c - 1] += share
            else:
                texts[c], tf[c] = d, share
                cursors[t] = c + 1
            i += 1
    blocks, known, out = 0, 0, 0
    for t in range(len(cursors)):
        begin, count = starts[t], cursors[t] - starts[t]
        if count == 0:
            continue
        total, peak = 0.0, np.int32(0)
        for c in range(begin, begin + count):
            d = texts[c]
            h = (np.uint64(np.float32(tf[c]).view(np.uint32)) << np.uint64(32)) | np.uint64(
                np.float32(lengths[d]).view(np.uint32)
            )
            h *= np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(h >> np.uint64(46))  # 18 bits
            while slots[slot] >= 0:
                p = slots[slot]
                if pair_tf[p] == tf[c] and pair_length[p] == lengths[d]:
                    break
                slot = (slot + 1) & (4 * PAIRS - 1)
            if slots[slot] < 0:
                if known == PAIRS:
                    return -1, 0
                slots[slot] = known
                pair_tf[known], pair_length[known] = tf[c], lengths[d]
                known += 1
            total += tf[c]
            if c == begin or tf[c] > pair_tf[peak]:
                peak = slots[slot]
            texts[out], pairs[out] = d, slots[slot]
            out += 1
        block_term[blocks], block_count[blocks], block_sum[blocks], block_peak[blocks] = t, count, total, peak
        blocks += 1
    return blocks, known


@nb.njit(
    nb.void(SHORTS, SHORTS, nb.int64[::1], nb.int64[::1], nb.uint16[::1], nb.uint16[::1]),
    nogil=True,
    cache=True,
)
def place(
    texts: NDArray[np.uint16],  # uint16[P']: one window's postings
    pairs: NDArray[np.uint16],  # uint16[P']
    starts: NDArray[np.int64],  # int64[b + 1]: where each block starts in `texts` and `pairs`
    targets: NDArray[np.int64],  # int64[b]: where each block starts in the output
    all_texts: NDArray[np.uint16],  # uint16[P]: out
    all_pairs: NDArray[np.uint16],  # uint16[P]: out
) -> None:
    """Copies each block of a window to its place among the postings of its term."""
    for block in range(len(targets)):
        target = targets[block]
        for i in range(starts[block], starts[block + 1]):
            all_texts[target] = texts[i]
            all_pairs[target] = pairs[i]
            target += 1


@nb.njit(nb.void(BYTES, nb.int64[::1], nb.uint64[::1]), nogil=True, cache=True)
def hash_terms(data: NDArray[np.uint8], ends: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
    """Writes the 64-bit FNV-1a hash of each term data[ends[i] : ends[i + 1]] to hashes[i]."""
    for i in range(len(hashes)):
        h = np.uint64(0xCBF29CE484222325)
        for j in range(ends[i], ends[i + 1]):
            h = (h ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        hashes[i] = h
