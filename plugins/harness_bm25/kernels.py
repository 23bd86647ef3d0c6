"""Compiled loops that search an index: exact top-k, one window of texts at a time, term by term."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness_bm25.inverting import WINDOW

STEP = 512  # scores are scanned and cleared in steps that stay in the first cache
_LOW, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


class Postings(NamedTuple):
    """What the loops read of an index (`storage.Index`) and of its table (`weights.Table`)."""

    window_first: NDArray[np.int64]  # int64[W + 1]
    pair_first: NDArray[np.int64]  # int64[W + 1]
    block_first: NDArray[np.int64]  # int64[V + 1]
    block_window: NDArray[np.int32]  # int32[B]
    block_start: NDArray[np.int64]  # int64[B + 1]
    texts: NDArray[np.uint16]  # uint16[P]
    pairs: NDArray[np.uint16]  # uint16[P]
    kind: int
    value: NDArray[np.float32]  # float32[pairs]
    tf: NDArray[np.float32]  # float32[pairs]


class Batch(NamedTuple):
    """Queries as terms, each query's heaviest terms first: the order in which a text's weights are added."""

    first: NDArray[np.int64]  # int64[Q + 1]: the first term of each query
    terms: NDArray[np.int64]  # int64[T]
    weight: NDArray[np.float32]  # float32[T]
    slope: NDArray[np.float32]  # float32[T]


_POSTINGS = nb.types.NamedTuple(
    [
        *[nb.types.Array(nb.int64, 1, "C", readonly=True)] * 3,
        nb.types.Array(nb.int32, 1, "C", readonly=True),
        nb.types.Array(nb.int64, 1, "C", readonly=True),
        *[nb.types.Array(nb.uint16, 1, "C", readonly=True)] * 2,
        nb.int64,
        *[nb.types.Array(nb.float32, 1, "C", readonly=True)] * 2,
    ],
    Postings,
)
_BATCH = nb.types.NamedTuple([*[nb.int64[::1]] * 2, *[nb.float32[::1]] * 2], Batch)


@nb.njit(nb.float32(nb.int64, nb.float32, nb.float32, nb.float32, nb.float32), nogil=True, cache=True)
def gain(kind: int, weight: float, slope: float, value: float, tf: float) -> float:
    """What one term adds to one text's score (`weights.PRODUCT`, `DIRICHLET`, `MERCER`). A Dirichlet weight
    below 0 is raised to almost 0, as in Lucene, so that the text is found."""
    if kind == 0:
        return weight * value
    if kind == 1:
        return weight * max(np.log1p(slope * tf) + value, np.float32(1e-9))
    return weight * np.log1p(slope * value)


@nb.njit(nb.uint64(nb.float32, nb.int64), nogil=True, cache=True)
def key_of(score: float, text: int) -> int:
    """A number that is smaller for a better score and, among equal scores, for an earlier text."""
    bits = np.uint64(np.float32(score).view(np.uint32))  # scores are not negative, so bits are in their order
    return ((_LOW - bits) << _SHIFT) | np.uint64(text)


@nb.njit(nb.float32(nb.uint64), nogil=True, cache=True)
def score_of(key: int) -> float:
    return np.uint32(_LOW - (key >> _SHIFT)).view(np.float32)


@nb.njit(nb.void(nb.uint64[::1], nb.int64, nb.int64), nogil=True, cache=True)
def select(keys: NDArray[np.uint64], size: int, k: int) -> None:
    """Hoare's selection: bring the k smallest of keys[:size] to its front, in any order."""
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


@nb.njit(nb.float32(nb.uint64[::1], nb.int64, nb.int64), nogil=True, cache=True)
def trim(keys: NDArray[np.uint64], size: int, k: int) -> float:
    """Keep the k best of more than k keys; return the score that a later text must exceed."""
    select(keys, size, k)
    worst = keys[0]
    for i in range(k):
        worst = max(worst, keys[i])
    return score_of(worst)


@nb.njit(nb.int64(nb.float32[::1], nb.int64, nb.int64, nb.float32), nogil=True, cache=True)
def above(scores: NDArray[np.float32], first: int, last: int, threshold: float) -> int:
    """How many scores exceed the threshold, in a form that the compiler vectorises."""
    count = np.int32(0)
    for i in range(first, last):
        count += scores[i] > threshold
    return count


@nb.njit(
    nb.void(_POSTINGS, _BATCH, nb.int64, nb.int64, nb.uint64[:, ::1]),
    nogil=True,
    cache=True,
)
def search(p: Postings, batch: Batch, begin: int, end: int, keys: NDArray[np.uint64]) -> None:
    """The best texts of queries begin to end - 1 as keys (`key_of`): keys[q] is uint64[k], in any order and
    with the largest key where nothing is found."""
    k = keys.shape[1]
    scores = np.zeros(WINDOW, np.float32)
    buffer = np.empty(2 * k + STEP, np.uint64)
    for q in range(begin, end):
        first, last = batch.first[q], batch.first[q + 1]
        cursor = p.block_first[batch.terms[first:last]]
        size, threshold = 0, np.float32(0)
        for w in range(len(p.window_first) - 1):
            touched = False
            pair = p.pair_first[w]
            for j in range(last - first):
                block = cursor[j]
                if block == p.block_first[batch.terms[first + j] + 1] or p.block_window[block] != w:
                    continue
                cursor[j] += 1
                touched = True
                weight, slope = batch.weight[first + j], batch.slope[first + j]
                for i in range(p.block_start[block], p.block_start[block + 1]):
                    c = pair + p.pairs[i]
                    scores[p.texts[i]] += gain(p.kind, weight, slope, p.value[c], p.tf[c])
            if not touched:
                continue
            base = p.window_first[w]
            count = p.window_first[w + 1] - base
            for a in range(0, count, STEP):
                z = min(a + STEP, count)
                if above(scores, a, z, threshold):
                    for i in range(a, z):
                        if scores[i] > threshold:
                            buffer[size] = key_of(scores[i], base + i)
                            size += 1
                    if size >= 2 * k:
                        threshold = trim(buffer, size, k)
                        size = k
                scores[a:z] = 0
        if size > k:
            trim(buffer, size, k)
        keys[q, : min(size, k)] = buffer[: min(size, k)]
        keys[q, min(size, k) :] = np.uint64(0xFFFFFFFFFFFFFFFF)


@nb.njit(nb.int64(_POSTINGS, nb.int64, nb.int64), nogil=True, cache=True)
def find(p: Postings, term: int, text: int) -> int:
    """The place of a term's posting for a text, or -1: two searches by halves."""
    w = np.searchsorted(p.window_first, text, "right") - 1
    low, high = p.block_first[term], p.block_first[term + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if p.block_window[middle] < w:
            low = middle + 1
        else:
            high = middle
    if low == end or p.block_window[low] != w:
        return -1
    wanted = text - p.window_first[w]
    low, high = p.block_start[low], p.block_start[low + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if p.texts[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and p.texts[low] == wanted else -1


@nb.njit(nb.float32(_POSTINGS, _BATCH, nb.int64, nb.int64), nogil=True, cache=True)
def term_score(p: Postings, batch: Batch, j: int, text: int) -> float:
    """What the j-th term of the batch adds to a text."""
    place = find(p, batch.terms[j], text)
    if place < 0:
        return np.float32(0)
    c = p.pair_first[np.searchsorted(p.window_first, text, "right") - 1] + p.pairs[place]
    return gain(p.kind, batch.weight[j], batch.slope[j], p.value[c], p.tf[c])


@nb.njit(
    nb.void(_POSTINGS, _BATCH, nb.int64, nb.int64, nb.int64[:, ::1], nb.uint64[:, ::1]),
    nogil=True,
    cache=True,
)
def rescore(
    p: Postings, batch: Batch, begin: int, end: int, texts: NDArray[np.int64], keys: NDArray[np.uint64]
) -> None:
    """Keys of the named texts (int64[Q, n], -1 for none), each scored as `search` would."""
    for q in range(begin, end):
        for i in range(texts.shape[1]):
            keys[q, i] = np.uint64(0xFFFFFFFFFFFFFFFF)
            if texts[q, i] >= 0:
                score = np.float32(0)
                for j in range(batch.first[q], batch.first[q + 1]):
                    score += term_score(p, batch, j, texts[q, i])
                keys[q, i] = key_of(score, texts[q, i])
