"""The weight of a term in a passage: each formula is split into a term weight and a table over pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness_bm25 import BM25, QL
from harness_bm25.storage import Index

PRODUCT, DIRICHLET, MERCER = 0, 1, 2  # how weight, slope and table combine; see `scoring.gain`


class Table(NamedTuple):
    """The part of a formula that is the same for all terms, for each pair of (term frequency, length)."""

    kind: int
    value: NDArray[np.float32]  # float32[pairs]
    tf: NDArray[np.float32]  # float32[pairs]


class Terms(NamedTuple):
    """The part of a formula that depends on the term."""

    weight: NDArray[np.float32]  # float32[n]
    slope: NDArray[np.float32]  # float32[n]: the factor of the frequency in query likelihood


def table(index: Index, params: BM25 | QL) -> Table:
    """The table for these parameters over the pairs of the index."""
    tf = index.pair_tf.astype(np.float64)
    exact = params.lengths == "exact"
    length = np.maximum(index.pair_length if exact else lucene_length(index.pair_length), 1e-9).astype(
        np.float64
    )
    if isinstance(params, QL):
        if params.smoothing == "dirichlet":  # Zhai and Lafferty 2001, as in Lucene's LMDirichletSimilarity
            return _table(DIRICHLET, np.log(params.mu / (length + params.mu)), index)
        return _table(MERCER, (1 - params.lam) * tf / (params.lam * length), index)
    average = float(index.lengths.sum(dtype=np.float64)) / max(filled(index), 1)
    return _table(
        PRODUCT, saturation(tf, 1 - params.b + params.b * length / max(average, 1e-9), params), index
    )


def _table(kind: int, value: NDArray[np.float64], index: Index) -> Table:
    return Table(kind, value.astype(np.float32), np.asarray(index.pair_tf))


def saturation(tf: NDArray[np.float64], norm: NDArray[np.float64], params: BM25) -> NDArray[np.float64]:
    """The BM25 weight without the idf. `norm` is 1 - b + b * length / average. The forms are Kamphuis et
    al.'s, "Which BM25 do you mean?", ECIR 2020, table 1. In every form, an absent term adds nothing."""
    k1, delta = params.k1, params.delta
    if params.form in ("lucene", "robertson"):
        return tf / (tf + k1 * norm)
    if params.form == "atire":
        return (k1 + 1) * tf / (tf + k1 * norm)
    if params.form == "bm25l":  # Lv and Zhai, SIGIR 2011
        shifted = tf / np.maximum(norm, 1e-9) + (0.5 if delta is None else delta)
        return (k1 + 1) * shifted / (k1 + shifted)
    return (k1 + 1) * tf / (tf + k1 * norm) + (1.0 if delta is None else delta)  # Lv and Zhai, CIKM 2011


def idf(texts_with_term: NDArray[np.float64], texts: int, form: str) -> NDArray[np.float64]:
    """The inverse document frequency of a term that occurs in `texts_with_term` of `texts` texts."""
    if form == "lucene":
        return np.log1p((texts - texts_with_term + 0.5) / (texts_with_term + 0.5))
    if form == "robertson":  # raised to FLOOR: it is negative for a term in more than half of all texts
        return np.maximum(np.log((texts - texts_with_term + 0.5) / (texts_with_term + 0.5)), FLOOR)
    if form == "atire":
        return np.maximum(np.log(texts / texts_with_term), FLOOR)
    if form == "bm25l":
        return np.log((texts + 1) / (texts_with_term + 0.5))
    return np.log((texts + 1) / texts_with_term)


FLOOR = 1e-9  # above 0, so that a text with a query term is retrieved, if only last


def terms(index: Index, params: BM25 | QL, numbers: NDArray[np.int64], counts: NDArray[np.float64]) -> Terms:
    """The parts of the scoring formula that depend only on a query's term, for the terms with these numbers.
    Each term occurs `counts` times in the query."""
    if isinstance(params, QL):
        share = (index.occurrences[numbers] + 1) / (float(index.occurrences.sum()) + 1)
        slope = 1 / (params.mu * share) if params.smoothing == "dirichlet" else 1 / share
        return Terms(counts.astype(np.float32), slope.astype(np.float32))
    texts_with_term = texts_with(index, numbers).astype(np.float64)
    weight = counts * idf(texts_with_term, filled(index), params.form)
    return Terms(weight.astype(np.float32), np.zeros(len(numbers), np.float32))


def texts_with(index: Index, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of texts that have each term."""
    starts = index.block_start[index.block_first[numbers]], index.block_start[index.block_first[numbers + 1]]
    return starts[1] - starts[0]


def filled(index: Index) -> int:
    """The number of texts with at least one term: the size of the collection as Lucene counts it."""
    return int(np.count_nonzero(index.lengths))


def ceiling(index: Index, table: Table) -> NDArray[np.float32]:
    """For each pair, the highest value among the pairs of its window whose frequency is at most its own. The
    ceiling at a block's highest frequency bounds the values of the block's postings, for every formula."""
    highest = np.empty_like(table.value)
    for first, last in zip(index.pair_first[:-1], index.pair_first[1:], strict=True):
        order = first + np.argsort(table.tf[first:last], kind="stable")
        running = np.maximum.accumulate(table.value[order])
        same = np.searchsorted(table.tf[order], table.tf[order], "right") - 1
        highest[order] = running[same]
    return highest


def lucene_length(length: NDArray[np.float32]) -> NDArray[np.float32]:
    """A length as Lucene stores it in one byte: exact up to 39, then cut to four significant bits."""
    whole = length.astype(np.int64)
    rest = np.maximum(whole - 24, 0)
    shift = np.maximum(np.floor(np.log2(np.maximum(rest, 1))).astype(np.int64) - 3, 0)
    return np.where(whole < 24, whole, 24 + ((rest >> shift) << shift)).astype(np.float32)
