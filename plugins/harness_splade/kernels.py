"""Compiled loops over an impact index: exact top-k by windows of texts, and inverting a window."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.toolkit.search.topk import NOTHING, drain, keep, key_of, raised, trim

WINDOW = 1 << 16  # texts in a window, so that a posting's text takes two bytes
MARGIN = np.float32(1 + 1e-5)  # a factor that exceeds the rounding error of a sum of products


class Postings(NamedTuple):
    """The arrays of an index that the loops read. Impacts are float32, or uint16 if they are quantised."""

    first: NDArray[np.int64]  # int64[W + 1]: the first text of each window
    starts: NDArray[np.int64]  # int64[W, V + 1]: the first posting of each term in each window
    peaks: NDArray[np.float32]  # float32[W, V]: the highest impact of each term in each window
    texts: NDArray[np.uint16]  # uint16[P]: the text of each posting, from the window's first, ascending
    impacts: NDArray[np.float32]  # float32[P] or uint16[P]


class Queries(NamedTuple):
    """The terms of queries and their weights, which are above 0."""

    first: NDArray[np.int64]  # int64[Q + 1]: the first term of each query
    terms: NDArray[np.int32]  # int32[T]
    weights: NDArray[np.float32]  # float32[T]


class Room(NamedTuple):
    """Buffers that are reused for every query."""

    scores: NDArray[np.float32]  # float32[WINDOW], zeros between windows
    near: NDArray[np.uint16]  # uint16[WINDOW]
    reached: NDArray[np.float32]  # float32[WINDOW]
    keys: NDArray[np.uint64]  # uint64[2k + WINDOW]: the best texts so far


def room(k: int) -> Room:
    scores, reached = np.zeros((2, WINDOW), np.float32)
    return Room(scores, np.empty(WINDOW, np.uint16), reached, np.empty(2 * k + WINDOW, np.uint64))


@nb.njit(nogil=True, cache=True)
def invert(
    ends: NDArray[np.int64],  # int64[n]: the end of each text's terms
    terms: NDArray[np.int32],  # int32[P]
    impacts: NDArray[np.float32],  # float32[P] or uint16[P]
    starts: NDArray[np.int64],  # int64[V + 1]: out
    peaks: NDArray[np.float32],  # float32[V]: out, zeros before
    texts: NDArray[np.uint16],  # uint16[P]: out
    placed: NDArray[np.float32],  # the type and shape of `impacts`: out
) -> None:
    """Sort the postings of one window's texts by term and then by text (a counting sort)."""
    starts[:] = 0
    for i in range(len(terms)):
        starts[terms[i] + 1] += 1
    for t in range(len(starts) - 1):
        starts[t + 1] += starts[t]
    cursor, begin = starts[:-1].copy(), np.int64(0)
    for text in range(len(ends)):
        for i in range(begin, ends[text]):
            t = terms[i]
            texts[cursor[t]], placed[cursor[t]] = text, impacts[i]
            peaks[t] = max(peaks[t], np.float32(impacts[i]))
            cursor[t] += 1
        begin = ends[text]


@nb.njit(nogil=True, cache=True)
def bound(p: Postings, queries: Queries, q: int, w: int) -> np.float32:
    """An upper bound of the scores of query q in window w."""
    most = np.float32(0)
    for j in range(queries.first[q], queries.first[q + 1]):
        most += queries.weights[j] * p.peaks[w, queries.terms[j]]
    return np.float32(most * MARGIN)


@nb.njit(nogil=True, cache=True)
def accumulate(p: Postings, queries: Queries, q: int, w: int, scores: NDArray[np.float32]) -> None:
    """Add what each term of query q gives to the scores of window w's texts, in the query's order."""
    for j in range(queries.first[q], queries.first[q + 1]):
        term, weight = queries.terms[j], queries.weights[j]
        begin, end = p.starts[w, term], p.starts[w, term + 1]
        texts, impacts = p.texts[begin:end], p.impacts[begin:end]
        for i in range(len(texts)):
            scores[texts[i]] += weight * np.float32(impacts[i])


@nb.njit(nogil=True, cache=True)
def best(p: Postings, queries: Queries, q: int, k: int, bold: bool, room: Room) -> int:
    """Bring the k best texts of query q to the front of room.keys, and return how many there are. If `bold`,
    the threshold is guessed from the first window, and fewer than k texts may be found."""
    size, threshold, total = 0, np.float32(0), p.first[-1]
    for w in range(len(p.first) - 1):
        most = bound(p, queries, q, w)
        if most <= threshold:
            continue
        accumulate(p, queries, q, w, room.scores)
        count = p.first[w + 1] - p.first[w]
        if threshold == 0 and count > k:
            share = count / total  # the window should have this share of the best texts, plus two deviations
            wanted = min(k, int(k * share + 2 * np.sqrt(k * share)) + 1) if bold else k
            threshold = raised(room.scores, count, wanted, most)
            size = keep(room.keys, size, threshold)
        n = drain(room.scores, count, threshold, room.near, room.reached)
        for i in range(n):
            room.keys[size] = key_of(room.reached[i], p.first[w] + room.near[i])
            size += 1
        if size > k + (k >> 1):
            threshold = max(threshold, trim(room.keys, size, k))
            size = k
    if size > k:
        trim(room.keys, size, k)
    return min(size, k)


@nb.njit(nogil=True, cache=True)
def search(p: Postings, queries: Queries, begin: int, end: int, keys: NDArray[np.uint64], room: Room) -> None:
    """Write the best texts of queries `begin` to `end` - 1 into `keys`. keys[q] (uint64[k]) holds keys of
    `topk.key_of` in any order, and NOTHING where fewer than k texts are found."""
    k = keys.shape[1]
    for q in range(begin, end):
        size = best(p, queries, q, k, True, room)
        if size < k:
            size = best(p, queries, q, k, False, room)
        for i in range(k):
            keys[q, i] = room.keys[i] if i < size else NOTHING


@nb.njit(nogil=True, cache=True)
def rescore(
    p: Postings,
    queries: Queries,
    begin: int,
    end: int,
    windows: NDArray[np.int64],  # int64[Q, n]: the window of each text
    texts: NDArray[np.int64],  # int64[Q, n], -1 for none
    keys: NDArray[np.uint64],  # uint64[Q, n]: out
) -> None:
    """Scores the given texts for queries `begin` to `end` - 1, as `search` does, and writes the keys of texts
    and scores (`topk.key_of`) into `keys`."""
    for q in range(begin, end):
        for i in range(texts.shape[1]):
            keys[q, i] = NOTHING
            if texts[q, i] >= 0:
                w, score = windows[q, i], np.float32(0)
                wanted = np.uint16(texts[q, i] - p.first[w])
                for j in range(queries.first[q], queries.first[q + 1]):
                    low, stop = p.starts[w, queries.terms[j]], p.starts[w, queries.terms[j] + 1]
                    high = stop
                    while low < high:  # a binary search for the text
                        middle = (low + high) >> 1
                        if p.texts[middle] < wanted:
                            low = middle + 1
                        else:
                            high = middle
                    if low < stop and p.texts[low] == wanted:
                        score += queries.weights[j] * np.float32(p.impacts[low])
                keys[q, i] = key_of(score, texts[q, i])
