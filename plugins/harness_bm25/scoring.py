"""Compiled loops that score texts: the weight of a term in one text, in a window of texts, in given texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.toolkit.search.topk import NOTHING, inner, key_of

types: Any = nb.types  # numba has no type hints for them
NONE = np.float32(1e-30)  # above 0, and too small to change a weight that it is added to
LOOKUP = 100  # the cost of looking up one text in one block, in additions of one posting's weight to a score


class Postings(NamedTuple):
    """The arrays of an index (`storage.Index`) and of its table (`weights.Table`) that the loops read."""

    window_first: NDArray[np.int64]  # int64[W + 1]
    pair_first: NDArray[np.int64]  # int64[W + 1]
    block_first: NDArray[np.int64]  # int64[V + 1]
    block_window: NDArray[np.int32]  # int32[B]
    block_start: NDArray[np.int64]  # int64[B + 1]
    block_peak: NDArray[np.uint16]  # uint16[B]
    texts: NDArray[np.uint16]  # uint16[P]
    pairs: NDArray[np.uint16]  # uint16[P]
    kind: int
    value: NDArray[np.float32]  # float32[pairs]
    tf: NDArray[np.float32]  # float32[pairs]
    ceiling: NDArray[np.float32]  # float32[pairs], by `weights.ceiling`


class Batch(NamedTuple):
    """Queries as terms. The heaviest come first, and a text's weights are added in this order."""

    first: NDArray[np.int64]  # int64[Q + 1]: the first term of each query
    terms: NDArray[np.int64]  # int64[T]
    weight: NDArray[np.float32]  # float32[T]
    slope: NDArray[np.float32]  # float32[T]


POSTINGS = types.NamedTuple(
    [
        *[types.Array(nb.int64, 1, "C", readonly=True)] * 3,
        types.Array(nb.int32, 1, "C", readonly=True),
        types.Array(nb.int64, 1, "C", readonly=True),
        *[types.Array(nb.uint16, 1, "C", readonly=True)] * 3,
        nb.int64,
        *[types.Array(nb.float32, 1, "C", readonly=True)] * 3,
    ],
    Postings,
)
BATCH = types.NamedTuple([*[nb.int64[::1]] * 2, *[nb.float32[::1]] * 2], Batch)


@inner(nb.float32(nb.int64, nb.float32, nb.float32, nb.float32, nb.float32))
def gain(kind: int, weight: np.float32, slope: np.float32, value: np.float32, tf: np.float32) -> np.float32:
    """The weight of one term in one text, by `kind` (`weights.PRODUCT`, `DIRICHLET` or `MERCER`). A Dirichlet
    weight below 0 is raised to NONE, where Lucene has 0, so that the text is still retrieved."""
    if kind == 0:
        return np.float32(weight * value)
    if kind == 1:
        return max(np.float32(weight * (np.log1p(slope * tf) + value)), NONE)
    return np.float32(weight * np.log1p(slope * value))


@inner(nb.float32(nb.float32, nb.float32))
def added(score: np.float32, weight: np.float32) -> np.float32:
    """The score with one more weight. Several weights NONE are worth one, so that ties are Lucene's."""
    return max(score, weight) if weight == NONE else np.float32(score + weight)


@inner(nb.void(POSTINGS, nb.int64, nb.int64, nb.float32, nb.float32, nb.float32[::1]))
def add_block(
    p: Postings, w: int, block: int, weight: np.float32, slope: np.float32, scores: NDArray[np.float32]
) -> None:
    """Adds a term's weights to the scores (float32[WINDOW]) of all texts of window w that have the term."""
    start, stop = p.block_start[block], p.block_start[block + 1]
    texts, pairs = p.texts[start:stop], p.pairs[start:stop]
    value = p.value[p.pair_first[w] : p.pair_first[w + 1]]
    if p.kind == 0:  # a loop of its own, because almost all time is spent here
        for i in range(len(texts)):
            scores[texts[i]] += weight * value[pairs[i]]
    else:
        tf = p.tf[p.pair_first[w] : p.pair_first[w + 1]]
        for i in range(len(texts)):
            more = gain(p.kind, weight, slope, value[pairs[i]], tf[pairs[i]])
            scores[texts[i]] = added(scores[texts[i]], more)


@inner(nb.int64(POSTINGS, nb.int64, nb.int64))
def place_in(p: Postings, block: int, text: int) -> int:
    """The index of a text's posting in the block, or -1, by binary search. `text` counts from the window."""
    low, size = p.block_start[block], p.block_start[block + 1] - p.block_start[block]
    while size > 1:
        half = size >> 1
        low += half * (p.texts[low + half] <= text)
        size -= half
    return low if p.texts[low] == text else -1


@inner(nb.int64(POSTINGS, nb.int64, nb.int64))
def block_in(p: Postings, term: int, w: int) -> int:
    """The block of a term in window w, or -1, by binary search."""
    low, end = p.block_first[term], p.block_first[term + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if p.block_window[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low if low < end and p.block_window[low] == w else -1


@nb.njit(nb.int64(POSTINGS, nb.int64, nb.int64, nb.int64), nogil=True, cache=True)
def find(p: Postings, term: int, w: int, text: int) -> int:
    """The index of a term's posting for a text of window w, or -1. `text` counts from the window's first."""
    block = block_in(p, term, w)
    return place_in(p, block, text) if block >= 0 else -1


@nb.njit(nb.float32(POSTINGS, BATCH, nb.int64, nb.int64, nb.int64), nogil=True, cache=True)
def term_score(p: Postings, batch: Batch, j: int, w: int, text: int) -> np.float32:
    """The weight of the batch's j-th term in a text of window w; 0 if the text lacks the term."""
    place = find(p, batch.terms[j], w, text)
    if place < 0:
        return np.float32(0)
    c = p.pair_first[w] + p.pairs[place]
    return gain(p.kind, batch.weight[j], batch.slope[j], p.value[c], p.tf[c])


@nb.njit(
    nb.void(
        POSTINGS, BATCH, nb.int64, nb.int64, nb.int64[:, ::1], nb.uint64[:, ::1], nb.float32[::1]
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def rescore(
    p: Postings,
    batch: Batch,
    begin: int,
    end: int,
    texts: NDArray[np.int64],  # int64[Q, n], filled with -1
    keys: NDArray[np.uint64],  # uint64[Q, n]: out
    scores: NDArray[np.float32],  # float32[WINDOW]: a buffer of zeros, left as zeros
) -> None:
    """Writes the keys of the given texts for queries begin to end - 1, scored as by `kernels.search`. In each
    window, a term's postings are either all added or, if few texts are given, looked up."""
    n = texts.shape[1]
    for q in range(begin, end):
        order = np.argsort(texts[q])
        at = 0
        while at < n and texts[q, order[at]] < 0:
            keys[q, order[at]] = NOTHING
            at += 1
        while at < n:
            w = np.searchsorted(p.window_first, texts[q, order[at]], "right") - 1
            base, after = p.window_first[w], p.window_first[w + 1]
            stop = at
            while stop < n and texts[q, order[stop]] < after:
                stop += 1
            for j in range(batch.first[q], batch.first[q + 1]):
                block = block_in(p, batch.terms[j], w)
                if block < 0:
                    continue
                if p.block_start[block + 1] - p.block_start[block] <= LOOKUP * (stop - at):
                    add_block(p, w, block, batch.weight[j], batch.slope[j], scores)
                    continue
                for i in range(at, stop):
                    text = texts[q, order[i]]
                    if i > at and text == texts[q, order[i - 1]]:
                        continue  # a text that is named twice is scored once
                    place = place_in(p, block, text - base)
                    if place >= 0:
                        c = p.pair_first[w] + p.pairs[place]
                        weight, slope = batch.weight[j], batch.slope[j]
                        more = gain(p.kind, weight, slope, p.value[c], p.tf[c])
                        scores[text - base] = added(scores[text - base], more)
            for i in range(at, stop):
                text = texts[q, order[i]]
                keys[q, order[i]] = key_of(scores[text - base], text)
            scores[: after - base] = 0
            at = stop
