"""Compiled loops that search an index: exact top-k, one window of texts at a time, term by term."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness_bm25.inverting import WINDOW

SPARSE = 16  # where fewer than one text in so many has a weight, only those are looked at
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
    bound: NDArray[np.float32]  # float32[T]: a little more than the most that the term can add


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
_BATCH = nb.types.NamedTuple([*[nb.int64[::1]] * 2, *[nb.float32[::1]] * 3], Batch)


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


@nb.njit(nb.void(_POSTINGS, nb.int64, nb.int64, nb.float32, nb.float32, nb.float32[::1]), nogil=True, cache=True)
def add_block(p: Postings, w: int, block: int, weight: float, slope: float, scores: NDArray[np.float32]) -> None:
    """Add a term's weights to the scores (float32[WINDOW]) of all texts of window w that have it."""
    start, stop = p.block_start[block], p.block_start[block + 1]
    texts, pairs = p.texts[start:stop], p.pairs[start:stop]
    value = p.value[p.pair_first[w] : p.pair_first[w + 1]]
    if p.kind == 0:  # on its own, because it is what almost all time goes into
        for i in range(len(texts)):
            scores[texts[i]] += weight * value[pairs[i]]
    else:
        tf = p.tf[p.pair_first[w] : p.pair_first[w + 1]]
        for i in range(len(texts)):
            scores[texts[i]] += gain(p.kind, weight, slope, value[pairs[i]], tf[pairs[i]])


@nb.njit(nb.int64(_POSTINGS, nb.int64, nb.int64), nogil=True, cache=True)
def place_in(p: Postings, block: int, text: int) -> int:
    """The place of the posting for a text, counted from its window's first, or -1: a search by halves."""
    low, size = p.block_start[block], p.block_start[block + 1] - p.block_start[block]
    while size > 1:
        half = size >> 1
        low += half * (p.texts[low + half] <= text)
        size -= half
    return low if p.texts[low] == text else -1


@nb.njit(
    nb.float32(_POSTINGS, _BATCH, nb.int64, nb.int64[::1], nb.int64, nb.int64, nb.int64, nb.float32, nb.float64, nb.float32),
    nogil=True,
    cache=True,
)
def complete(
    p: Postings,
    batch: Batch,
    w: int,
    blocks: NDArray[np.int64],  # int64[terms of the query]: each term's block in this window, -1 for none
    first: int,  # the query's first term in the batch
    essential: int,  # terms from this one on are not in the score yet
    text: int,
    score: float,
    rest: float,  # the most that they can add
    threshold: float,
) -> float:
    """The whole score of a text, or 0 as soon as it cannot exceed the threshold."""
    for j in range(essential, len(blocks)):
        if blocks[j] < 0:
            continue
        if score + rest <= threshold:
            return np.float32(0)
        rest -= batch.bound[first + j]
        i = place_in(p, blocks[j], text)
        if i >= 0:
            c = p.pair_first[w] + p.pairs[i]
            score += gain(p.kind, batch.weight[first + j], batch.slope[first + j], p.value[c], p.tf[c])
    return score


@nb.njit(nb.void(_POSTINGS, _BATCH, nb.int64, nb.int64, nb.uint64[:, ::1]), nogil=True, cache=True)
def search(p: Postings, batch: Batch, begin: int, end: int, keys: NDArray[np.uint64]) -> None:
    """The best texts of queries begin to end - 1 as keys (`key_of`): keys[q] is uint64[k], in any order and
    with the largest key where nothing is found.

    Each window is scored term by term. Terms whose bounds together cannot lift a text over the k-th best
    score so far are left out (MaxScore: Turtle and Flood 1995) and looked up for the few texts that
    the other terms bring near it."""
    k = keys.shape[1]
    scores = np.zeros(WINDOW, np.float32)
    buffer = np.empty(2 * k + WINDOW, np.uint64)
    for q in range(begin, end):
        first = batch.first[q]
        terms = batch.terms[first : batch.first[q + 1]]
        cursor, blocks = p.block_first[terms], np.empty(len(terms), np.int64)
        size, threshold = 0, np.float32(0)
        for w in range(len(p.window_first) - 1):
            for j in range(len(terms)):
                blocks[j] = -1
                if cursor[j] < p.block_first[terms[j] + 1] and p.block_window[cursor[j]] == w:
                    blocks[j] = cursor[j]
                    cursor[j] += 1
            essential, rest = len(terms), 0.0
            while essential > 0:
                more = batch.bound[first + essential - 1] if blocks[essential - 1] >= 0 else 0.0
                if True:
                    break
                rest += more
                essential -= 1
            work = 0
            for j in range(essential):
                if blocks[j] >= 0:
                    add_block(p, w, blocks[j], batch.weight[first + j], batch.slope[first + j], scores)
                    work += p.block_start[blocks[j] + 1] - p.block_start[blocks[j]]
            if work == 0:
                continue
            base = p.window_first[w]
            count = p.window_first[w + 1] - base
            cut = np.float32(max(threshold - rest, 0.0))
            if work * SPARSE < count:
                for j in range(essential):
                    if blocks[j] < 0:
                        continue
                    for i in range(p.block_start[blocks[j]], p.block_start[blocks[j] + 1]):
                        text = p.texts[i]
                        score = scores[text]
                        scores[text] = 0
                        if score > cut:
                            score = complete(p, batch, w, blocks, first, essential, text, score, rest, threshold)
                            if score > threshold:
                                buffer[size] = key_of(score, base + text)
                                size += 1
            else:
                for a in range(0, count, STEP):
                    z = min(a + STEP, count)
                    if above(scores, a, z, cut):
                        for text in range(a, z):
                            if scores[text] > cut:
                                score = complete(p, batch, w, blocks, first, essential, text, scores[text], rest, threshold)
                                if score > threshold:
                                    buffer[size] = key_of(score, base + text)
                                    size += 1
                        if size >= 2 * k + STEP:  # later texts are behind these, so the threshold may rise now
                            threshold = trim(buffer, size, k)
                            size = k
                            cut = max(cut, np.float32(threshold - rest))
                    scores[a:z] = 0
            if size > k:
                threshold = trim(buffer, size, k)
                size = k
        keys[q, :size] = buffer[:size]
        keys[q, size:] = np.uint64(0xFFFFFFFFFFFFFFFF)


@nb.njit(nb.int64(_POSTINGS, nb.int64, nb.int64), nogil=True, cache=True)
def find(p: Postings, term: int, text: int) -> int:
    """The place of a term's posting for a text, or -1."""
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
    return place_in(p, low, text - p.window_first[w])


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
