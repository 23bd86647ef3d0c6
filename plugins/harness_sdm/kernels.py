"""Compiled loops over tokens: the places of terms, the frequencies of pairs of terms, and scores.

The tokens of text i are tokens[bounds[i] : bounds[i + 1]], as term numbers. The loops release the GIL.
"""

from __future__ import annotations

from math import log

import numba as nb
import numpy as np
from numpy.typing import NDArray


@nb.njit(nogil=True, cache=True)
def place(tokens: NDArray[np.int32], starts: NDArray[np.int64], occurrences: NDArray[np.uint32]) -> None:
    """Write the places of term t into occurrences[starts[t] : starts[t + 1]], ascending."""
    cursor = starts.copy()
    for i in range(len(tokens)):
        occurrences[cursor[tokens[i]]] = i
        cursor[tokens[i]] += 1


@nb.njit(nogil=True, cache=True)
def windows(
    tokens: NDArray[np.int32], begin: int, end: int, left: int, right: int, width: int
) -> tuple[int, int]:
    """The number of times that `right` directly follows `left` (#1), and the number of windows of at most
    `width` tokens that have both in any order (#uw), among the tokens `begin` to `end` - 1. Each occurrence
    counts in one window at most. Windows are taken from left to right."""
    ordered = unordered = 0
    last_left = last_right = begin - width  # too far away for any window
    for i in range(begin, end):
        token = tokens[i]
        if token != left and token != right:
            continue
        if token == right and i > begin and tokens[i - 1] == left:
            ordered += 1
        other = last_right if token == left and left != right else last_left
        if i - other < width:
            unordered += 1
            last_left = last_right = begin - width
        elif token == left:
            last_left = i
        else:
            last_right = i
    return ordered, unordered


@nb.njit(nogil=True, cache=True)
def count_pairs(
    tokens: NDArray[np.int32],
    bounds: NDArray[np.int64],
    starts: NDArray[np.int64],
    occurrences: NDArray[np.uint32],
    pairs: NDArray[np.int32],  # int32[P, 2]
    width: int,
    counts: NDArray[np.int64],  # int64[P, 2]: out, #1 and #uw in the whole collection
) -> None:
    """Add the exact collection frequencies of each pair to `counts`. Only texts in which both terms of a pair
    are close are read, so the cost of a pair is about proportional to the occurrences of its rarer term."""
    for i in range(len(pairs)):
        left, right = pairs[i]
        rarer, other = left, right
        if starts[left + 1] - starts[left] > starts[right + 1] - starts[right]:
            rarer, other = right, left
        done = 0
        for j in range(starts[rarer], starts[rarer + 1]):
            at = int(np.int64(occurrences[j]))  # signed, like all other places
            if at < done or not _near(tokens, at, other, width):
                continue
            text = np.searchsorted(bounds, at, side="right") - 1
            done = bounds[text + 1]
            ordered, unordered = windows(tokens, bounds[text], done, left, right, width)
            counts[i, 0] += ordered
            counts[i, 1] += unordered


@nb.njit(nogil=True, cache=True)
def _near(tokens: NDArray[np.int32], at: int, term: int, width: int) -> bool:
    """Whether `term` occurs less than `width` tokens from the place `at`, in its text or an adjacent one."""
    for i in range(max(at - width + 1, 0), min(at + width, len(tokens))):
        if tokens[i] == term and i != at:
            return True
    return False


@nb.njit(nogil=True, cache=True)
def score(
    tokens: NDArray[np.int32],
    bounds: NDArray[np.int64],
    rows: NDArray[np.int64],  # int64[n]: the texts to score, -1 for none
    terms: NDArray[np.int32],  # int32[t]: the query's terms, each once
    term_weight: NDArray[np.float64],  # float64[t]
    term_expected: NDArray[np.float64],  # float64[t]: mu cf / |C|, above 0
    pairs: NDArray[np.int32],  # int32[p, 2]: places in `terms`
    pair_weight: NDArray[np.float64],  # float64[p, 2]: for #1 and #uw, 0 if the collection has none
    pair_expected: NDArray[np.float64],  # float64[p, 2]: above 0
    width: int,
    mu: float,
    scores: NDArray[np.float32],  # float32[n]: out
) -> None:
    """Write the score of each text of `rows` into `scores`. The score is the sum over the query's features f
    of w_f log((tf_f + mu cf_f / |C|) / (|D| + mu)), which is the ranking function of Metzler and Croft
    (2005), section 3, with their Dirichlet-smoothed features (table 1)."""
    absent = 0.0  # the score of a text without any feature, apart from its length
    for i in range(len(terms)):
        absent += term_weight[i] * log(term_expected[i])
    for i in range(len(pairs)):
        for kind in range(2):
            absent += pair_weight[i, kind] * log(pair_expected[i, kind])
    weight = term_weight.sum() + pair_weight.sum()
    table, mask = _table(terms)
    matches = np.zeros(len(terms), np.int64)
    for i in range(len(rows)):
        if rows[i] < 0:
            continue
        begin, end = bounds[rows[i]], bounds[rows[i] + 1]
        matches[:] = 0
        for j in range(begin, end):
            place = _find(table, mask, terms, tokens[j])
            if place >= 0:
                matches[place] += 1
        total = absent - weight * log(end - begin + mu)
        for j in range(len(terms)):
            if matches[j]:
                total += term_weight[j] * log(1 + matches[j] / term_expected[j])
        for j in range(len(pairs)):
            left, right = pairs[j]
            if matches[left] and matches[right]:
                counts = windows(tokens, begin, end, terms[left], terms[right], width)
                for kind in range(2):
                    total += pair_weight[j, kind] * log(1 + counts[kind] / pair_expected[j, kind])
        scores[i] = total


@nb.njit(nogil=True, cache=True)
def _table(terms: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """A hash table from terms to their places in `terms`, -1 if empty, and the mask of its size."""
    size = 16
    while size < 8 * len(terms):
        size *= 2
    table = np.full(size, -1, np.int32)
    for i in range(len(terms)):
        slot = terms[i] & (size - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = i
    return table, size - 1


@nb.njit(nogil=True, cache=True)
def _find(table: NDArray[np.int32], mask: int, terms: NDArray[np.int32], token: int) -> int:
    """The place of `token` in `terms`, or -1 if it is not there."""
    slot = token & mask
    while table[slot] >= 0:
        place: int = table[slot]
        if terms[place] == token:
            return place
        slot = (slot + 1) & mask
    return -1
