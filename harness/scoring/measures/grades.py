"""The grades that measures read: of each passage of a ranking, and of the ideal ranking of each query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.judgements import Judged
from harness.scoring.measures.names import FILL, UNJUDGED
from harness.types import Ints

CELLS = 1 << 17  # cells of one block of rows, so that the block's keys stay in a core's cache
MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / the golden ratio: spreads keys (Knuth, volume 3, 6.4)


class Ideal(NamedTuple):
    """All J judgements of Q queries, ordered by query, then by falling grade."""

    queries: int  # Q
    row: Ints  # int64[J]: the query's row in the array of grades
    grade: NDArray[np.int32]  # int32[J]


def ideal_of(queries: int, row: Ints, grade: NDArray[np.int32]) -> Ideal:
    order = np.lexsort((-grade.astype(np.int64), row))
    return Ideal(queries, row[order], grade[order])


def relevant(ideal: Ideal, rel: int) -> NDArray[np.float64]:
    """The number of judgements of each query with a grade of at least `rel`: float64[Q]."""
    return per_row(ideal.row[ideal.grade >= rel], ideal.queries)


def per_row(rows: Ints, queries: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The sum of the weights of each row: float64[Q]. Weights are 1 if not given, and are added in order."""
    return np.bincount(rows, weights, queries).astype(np.float64)


def places(rows: Ints) -> Ints:
    """For each value of `rows`, the number of equal values before it: int64[n]. `rows` ascend from 0."""
    counts = np.bincount(rows)
    return np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def of_documents(judged: Judged, document_of: NDArray[np.int32], documents: int) -> Judged:
    """The judgements of documents, from those of passages. A document's grade is the highest grade of its
    passages. A passage that the corpus lacks counts as a document of its own, as its own is not known."""
    size = len(document_of)
    missing = judged.passage >= size
    known = np.where(missing, 0, judged.passage)
    place = np.where(missing, judged.passage - size + documents, document_of[known] if size else 0)
    order = np.lexsort((-judged.grade.astype(np.int64), place, judged.query))
    query, place, grade = judged.query[order], place[order], judged.grade[order]
    best = np.ones(len(order), np.bool_)
    best[1:] = (query[1:] != query[:-1]) | (place[1:] != place[:-1])
    return Judged(query[best], place[best], grade[best])


def look_up(ranked: Ints, row: Ints, passage: Ints, grade: NDArray[np.int32]) -> NDArray[np.int32]:
    """The grade of each ranked passage (int32[Q, k]), from judgements of pairs of a row and a passage. Most
    ranked passages are not judged. A small table of hashes rules out most; the rest is searched."""
    grades = np.full(ranked.shape, UNJUDGED, np.int32)
    rows, width = ranked.shape
    if ranked.size == 0:
        return grades
    if (ranked[:, -1] < 0).any():  # fills stand at the end of a row
        grades[ranked < 0] = FILL
    if len(row) == 0:
        return grades
    span = int(max(ranked.max(), passage.max(initial=0))) + 1
    keys = row.astype(np.int64) * span + passage
    order = np.argsort(keys)
    keys, ordered = keys[order], grade[order]
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("a query and a passage are judged twice")
    bits = min(max(64 * len(keys), 1 << 10).bit_length(), 22)
    table = np.zeros(1 << bits, np.bool_)
    table[_hashed(_mixed(keys), bits)] = True
    first = np.arange(rows) * span  # the key of position 0 of each row
    step = max(1, CELLS // width)
    for start in range(0, rows, step):
        block = ranked[start : start + step]
        # (a + b) * MIXER = a * MIXER + b * MIXER modulo 2^64, which saves one pass over the block
        hashes = _hashed(_mixed(block) + _mixed(first[start : start + step])[:, None], bits)
        maybe = np.flatnonzero(table[hashes])
        position = block.reshape(-1)[maybe]
        sought = position + first[start + maybe // width]
        place = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        judged = (keys[place] == sought) & (position >= 0)  # the key of a fill (-1) belongs to another row
        grades[start : start + step].reshape(-1)[maybe[judged]] = ordered[place[judged]]
    return grades


def _mixed(keys: Ints) -> NDArray[np.uint64]:
    return np.multiply(keys.view(np.uint64), MIXER)


def _hashed(mixed: NDArray[np.uint64], bits: int) -> Ints:
    """The upper `bits` bits of each number, computed in place."""
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64)
