"""Compiled loops that search an index: exact top-k, one window of texts at a time, term by term."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.toolkit.search.topk import NOTHING, above, drain, inner, keep, key_of, raised, trim
from harness_bm25.inverting import WINDOW
from harness_bm25.scoring import BATCH, LOOKUP, POSTINGS, Batch, Postings, add_block, added, gain, place_in

# Measured costs; the unit is the cost of adding one posting's weight to a score.
TOUCH = 150  # the cost of extracting one text from a window's scores
SPARSE = 4  # if fewer than 1 / SPARSE of a window's texts have a score, they are found by their postings
SAMPLE = 4  # texts near the threshold are counted in 1 / SAMPLE of a window's scores
MARGIN = 1 + 1e-5  # a factor above any that rounding can add to a sum of weights


class Query(NamedTuple):
    """A query in one window. The arrays have room for the longest query of a batch."""

    first: int  # its first term in the batch
    size: int  # m, its number of terms
    cursor: NDArray[np.int64]  # int64[m]: each term's next block
    blocks: NDArray[np.int64]  # int64[m]: each term's block in this window, -1 for none
    rest: NDArray[np.float64]  # float64[m + 1]: the most that terms j, j + 1 ... can add to a score
    ahead: NDArray[np.int64]  # int64[m + 1]: how many postings terms j, j + 1 ... have
    left: NDArray[np.int64]  # int64[m + 1]: how many blocks terms j, j + 1 ... have


class Room(NamedTuple):
    """Buffers that are reused for every query."""

    scores: NDArray[np.float32]  # float32[WINDOW], zeros between windows
    near: NDArray[np.uint16]  # uint16[WINDOW]: texts near or above the threshold
    reached: NDArray[np.float32]  # float32[WINDOW]: their scores so far
    keys: NDArray[np.uint64]  # uint64[2k + WINDOW]: the best texts so far
    cursor: NDArray[np.int64]  # int64[m + 1]; this and the arrays below as in `Query`
    blocks: NDArray[np.int64]  # int64[m + 1]
    rest: NDArray[np.float64]  # float64[m + 1]
    ahead: NDArray[np.int64]  # int64[m + 1]
    left: NDArray[np.int64]  # int64[m + 1]


_ARRAYS = (nb.int64[::1], nb.int64[::1], nb.float64[::1], nb.int64[::1], nb.int64[::1])
QUERY = nb.types.NamedTuple([nb.int64, nb.int64, *_ARRAYS], Query)
ROOM = nb.types.NamedTuple([nb.float32[::1], nb.uint16[::1], nb.float32[::1], nb.uint64[::1], *_ARRAYS], Room)


def room(k: int, terms: int) -> Room:
    """Buffers for the k best texts of queries with at most `terms` terms."""
    scores, reached = np.zeros((2, WINDOW), np.float32)
    near = np.empty(WINDOW, np.uint16)
    cursor, blocks, ahead, left = np.zeros((4, terms + 1), np.int64)
    keys = np.empty(2 * k + WINDOW, np.uint64)
    return Room(scores, near, reached, keys, cursor, blocks, np.zeros(terms + 1), ahead, left)


@inner(nb.void(POSTINGS, BATCH, QUERY, nb.int64))
def enter(p: Postings, batch: Batch, query: Query, w: int) -> None:
    """Moves the query to window w: finds its blocks there, and the upper bounds of their weights."""
    m = query.size
    query.rest[m], query.ahead[m], query.left[m] = 0, 0, 0
    for j in range(m - 1, -1, -1):
        query.rest[j], query.ahead[j], query.left[j] = (
            query.rest[j + 1],
            query.ahead[j + 1],
            query.left[j + 1],
        )
        block, t = query.cursor[j], query.first + j
        query.blocks[j] = -1
        if block < p.block_first[batch.terms[t] + 1] and p.block_window[block] == w:
            query.blocks[j] = block
            query.cursor[j] = block + 1
            peak = p.pair_first[w] + p.block_peak[block]
            query.rest[j] += MARGIN * gain(
                p.kind, batch.weight[t], batch.slope[t], p.ceiling[peak], p.tf[peak]
            )
            query.ahead[j] += p.block_start[block + 1] - p.block_start[block]
            query.left[j] += 1


@inner(nb.int64(POSTINGS, BATCH, QUERY, nb.int64, nb.float32, nb.float32[::1]))
def accumulate(
    p: Postings, batch: Batch, query: Query, w: int, threshold: np.float32, scores: NDArray[np.float32]
) -> int:
    """Adds the weights of the query's first terms to the scores, and returns how many terms were added.

    Adding stops when two conditions hold. First, the other terms alone cannot lift a text over the threshold
    (MaxScore: Turtle and Flood 1995). Second, looking up the other terms for the texts near the threshold is
    less work than adding them.
    """
    j, m = 0, query.size
    count = p.window_first[w + 1] - p.window_first[w]
    while j < m:
        ahead = query.ahead[j]
        if query.rest[j] <= threshold:
            if ahead == 0:
                return j
            reach = above(scores, 0, count // SAMPLE, np.float32(threshold - query.rest[j])) * SAMPLE
            if reach * (TOUCH + LOOKUP * query.left[j]) <= ahead:
                return j
        if query.blocks[j] >= 0:
            add_block(
                p, w, query.blocks[j], batch.weight[query.first + j], batch.slope[query.first + j], scores
            )
        j += 1
    return m


@inner(nb.int64(POSTINGS, QUERY, nb.int64, nb.float32, ROOM))
def gather(p: Postings, query: Query, done: int, cut: np.float32, room: Room) -> int:
    """Copies the texts above the cut and sets scores back to 0, as `topk.drain` does. `gather` is for windows
    with few scores above 0, which it finds by their postings."""
    n = 0
    for j in range(done):
        if query.blocks[j] >= 0:
            for i in range(p.block_start[query.blocks[j]], p.block_start[query.blocks[j] + 1]):
                text = p.texts[i]
                if room.scores[text] > cut:
                    room.near[n], room.reached[n] = text, room.scores[text]
                    n += 1
                room.scores[text] = 0
    return n


@inner(nb.int64(POSTINGS, BATCH, QUERY, nb.int64, nb.int64, nb.int64, nb.float32, ROOM))
def complete(
    p: Postings, batch: Batch, query: Query, w: int, done: int, n: int, threshold: np.float32, room: Room
) -> int:
    """Looks up the other terms for the first n texts found, and drops texts that cannot exceed the threshold.
    Returns how many texts remain."""
    for j in range(done, query.size):
        block, t = query.blocks[j], query.first + j
        if block < 0:
            continue
        kept = 0
        for i in range(n):
            if room.reached[i] + query.rest[j] > threshold:
                place, score = place_in(p, block, room.near[i]), room.reached[i]
                if place >= 0:
                    c = p.pair_first[w] + p.pairs[place]
                    more = gain(p.kind, batch.weight[t], batch.slope[t], p.value[c], p.tf[c])
                    score = added(score, more)
                room.near[kept], room.reached[kept] = room.near[i], score
                kept += 1
        n = kept
    return n


@inner(nb.int64(nb.int64, nb.float64))
def hoped(k: int, share: float) -> int:
    """The expected number of the best k in this share of all texts, plus two standard deviations."""
    return min(k, int(k * share + 2 * np.sqrt(k * share)) + 1)


@inner(nb.int64(POSTINGS, BATCH, nb.int64, nb.int64, nb.boolean, ROOM))
def best(p: Postings, batch: Batch, q: int, k: int, bold: bool, room: Room) -> int:
    """Brings the k best texts of query q to the front of room.keys. Returns their number. If `bold`, the
    threshold is guessed from the first window that has enough texts; then fewer than k may be found."""
    first, windows = batch.first[q], len(p.window_first) - 1
    query = Query(
        first, batch.first[q + 1] - first, room.cursor, room.blocks, room.rest, room.ahead, room.left
    )
    for j in range(query.size):
        query.cursor[j] = p.block_first[batch.terms[first + j]]
    size, threshold = 0, np.float32(0)
    for w in range(windows):
        enter(p, batch, query, w)
        if query.rest[0] <= threshold:
            continue
        done = accumulate(p, batch, query, w, threshold, room.scores)
        base, count = p.window_first[w], p.window_first[w + 1] - p.window_first[w]
        if threshold == 0 and query.ahead[0] > k:
            wanted = hoped(k, count / p.window_first[windows]) if bold else k
            threshold = raised(room.scores, count, wanted, np.float32(query.rest[0]))
            size = keep(room.keys, size, threshold)  # texts below the guessed threshold must not count
        cut = max(np.float32(threshold - query.rest[done]), np.float32(0))
        if (query.ahead[0] - query.ahead[done]) * SPARSE < count:
            n = gather(p, query, done, cut, room)
        else:
            n = drain(room.scores, count, cut, room.near, room.reached)
        n = complete(p, batch, query, w, done, n, threshold, room)
        for i in range(n):
            if room.reached[i] > threshold:
                room.keys[size] = key_of(room.reached[i], base + room.near[i])
                size += 1
        if size > k + (k >> 1):
            threshold = trim(room.keys, size, k)
            size = k
    if size > k:
        trim(room.keys, size, k)
    return min(size, k)


@nb.njit(nb.void(POSTINGS, BATCH, nb.int64, nb.int64, nb.uint64[:, ::1], ROOM), nogil=True, cache=True)
def search(p: Postings, batch: Batch, begin: int, end: int, keys: NDArray[np.uint64], room: Room) -> None:
    """Writes the best texts of queries begin to end - 1 as keys (`topk.key_of`): keys[q] is uint64[k], in any
    order, filled with NOTHING if fewer texts are found."""
    k = keys.shape[1]
    for q in range(begin, end):
        size = 0
        for bold in (True, False):
            if size < k:
                size = best(p, batch, q, k, bold, room)
        for i in range(k):
            keys[q, i] = room.keys[i] if i < size else NOTHING
