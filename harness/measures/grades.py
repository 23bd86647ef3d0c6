"""Judgements as numbers, and the grade of every passage of a ranking by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.measures.names import FILL, UNJUDGED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints

CELLS = 1 << 17  # of one block of rows, so that its keys stay in a core's cache
MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / the golden ratio: spreads keys (Knuth, volume 3, 6.4)


class Judged(NamedTuple):
    """Judgements by number. A passage that the corpus lacks is numbered from the corpus' size upwards,
    each such id with its own number: it can never be found, and stays in the denominators."""

    query: NDArray[np.int32]  # int32[J]
    passage: Ints  # int64[J]
    grade: NDArray[np.int32]  # int32[J]


def of_documents(judged: Judged, document_of: NDArray[np.int32], documents: int) -> Judged:
    """A document's grade is the highest among its passages'. A passage that the corpus lacks counts as a
    document of its own, since nobody knows which one it belongs to."""
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
    """int32[Q, k]: the grade of each ranked passage, by judgements of (row, passage). Most passages are not
    judged: a small table of hashes rules those out, and only the rest is searched for."""
    grades = np.full(ranked.shape, UNJUDGED, np.int32)
    rows, width = ranked.shape
    if ranked.size == 0:
        return grades
    if (ranked[:, -1] < 0).any():  # fills stand at the end of a row
        grades[ranked < 0] = FILL
    span = int(max(ranked.max(), passage.max(initial=0))) + 1
    keys = row.astype(np.int64) * span + passage
    order = np.argsort(keys)
    keys, ordered = keys[order], grade[order]
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("a query and a passage are judged twice")
    bits = min(max(16 * len(keys), 1 << 10).bit_length(), 22)
    table = np.zeros(1 << bits, np.bool_)
    table[_hashed(keys, bits)] = True
    step = max(1, CELLS // width)
    for start in range(0, rows, step):
        block = ranked[start : start + step]
        sought = (block + np.arange(start, start + len(block))[:, None] * span).ravel()
        maybe = np.flatnonzero(table[_hashed(sought, bits)])
        maybe = maybe[block.ravel()[maybe] >= 0]  # a fill's key is that of another row's passage
        place = np.searchsorted(keys, sought[maybe])
        place[place == len(keys)] = 0
        found = keys[place] == sought[maybe] if len(keys) else np.zeros(len(maybe), np.bool_)
        grades[start : start + step].reshape(-1)[maybe[found]] = ordered[place[found]]
    return grades


def _hashed(keys: Ints, bits: int) -> NDArray[np.uint64]:
    return (keys.view(np.uint64) * MIXER) >> np.uint64(64 - bits)
