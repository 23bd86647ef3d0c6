"""Ranking: the harness checks the hits that a plugin returned, orders them by one rule and cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import ContractError
from harness.types import ColumnUnit, Floats, Hits, Ints

CELLS = 1 << 18  # cells of one block of rows, so that the block's arrays stay in a core's cache


class Documents(NamedTuple):
    """The documents of a corpus: the document of each passage, and the order of the documents' ids."""

    document_of: NDArray[np.int32]  # int32[N]: the document of each passage
    rank_of_id: NDArray[np.int32]  # int32[D]: the rank of each document's id, ascending by bytes


def ranks_of(ids: Sequence[str]) -> NDArray[np.int32]:
    """The rank of each id, ascending by UTF-8 bytes: int32[N]. Comparing code points gives the same."""
    ranks = np.empty(len(ids), np.int32)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.int32)
    return ranks


def canonical(
    hits: Hits,
    *,
    size: int,
    rank_of_id: NDArray[np.int32],
    depth: int,
    exclude: Sequence[Ints] | None = None,
    queries: int | None = None,
    most_columns: int | None = None,
) -> Hits:
    """The canonical hits, which every measure, combiner and re-ranker reads. They are ordered by descending
    score, with ties by descending id as bytes (trec_eval's rule), and have at most `depth` columns. Short
    rows are filled with -1 and -inf at their end.

    `rank_of_id` (int32[size]) is the ascending rank of each position's id. `exclude` holds one array of
    positions per query, which are removed. `queries` is the number of rows that the hits must have, and
    `most_columns` the largest number of columns, if given. Raises ContractError if the hits break the
    contract."""
    hits = _formed(hits, queries, most_columns)
    rows, width = hits.passages.shape
    kept = min(width, depth)
    passages = np.full((rows, kept), -1, np.int64)
    scores = np.full((rows, kept), -np.inf, np.float32)
    step = max(1, CELLS // max(1, width))
    for start in range(0, rows, step):
        block = slice(start, start + step)
        best, values = hits.passages[block], hits.scores[block]
        _check(best, values, size, start)
        if exclude is not None:
            best = _without(best, exclude[block], size)
        best, values = _ordered(best, values, rank_of_id)
        passages[block], scores[block] = best[:, :kept], values[:, :kept]
    return Hits(passages, scores, hits.unit)


def to_documents(hits: Hits, documents: Documents) -> Hits:
    """The canonical hits of documents, from canonical hits of passages. Each document is ranked by its best
    passage (MaxP), with ties by id."""
    if hits.unit == "document":
        raise ValueError("these hits are of documents already")
    document_of, ranks = documents
    rows, width = hits.passages.shape
    if width == 0 or len(document_of) == 0:
        return Hits(hits.passages, hits.scores, "document")
    owners = np.where(hits.passages < 0, -1, document_of[hits.passages])
    step = max(1, CELLS // width)
    passages, scores = np.empty((rows, width), np.int64), np.empty((rows, width), np.float32)
    for start in range(0, rows, step):
        block = slice(start, start + step)
        best = _first_of_each(owners[block])
        passages[block], scores[block] = _ordered(best, hits.scores[block], ranks)
    return Hits(passages, scores, "document")


def is_first(documents: Documents, passages: Ints) -> NDArray[np.bool_]:
    """Whether each of the passages (an array of any shape, -1 fills) is the first of its document. The
    passages of a document are consecutive and in order."""
    owners = documents.document_of
    if not len(owners):
        return np.zeros(passages.shape, np.bool_)
    first = (passages == 0) | (owners[np.maximum(passages, 0)] != owners[np.maximum(passages - 1, 0)])
    return np.asarray(first & (passages >= 0))


def ranked_by(hits: Hits, unit: ColumnUnit, documents: Documents) -> Hits:
    """Canonical hits, ranked as a column of this unit reads them. With the unit `first` (FirstP), documents
    are ranked by their first passages, and a document whose first passage was not retrieved is not ranked."""
    if unit == "passage" or hits.unit == "document":
        return hits
    if unit == "first":
        hits = Hits(np.where(is_first(documents, hits.passages), hits.passages, -1), hits.scores, hits.unit)
    return to_documents(hits, documents)


def cut(hits: Hits, depth: int | None) -> Hits:
    """The hits with the first `depth` columns of each row. With None, all columns stay."""
    return Hits(hits.passages[:, :depth], hits.scores[:, :depth], hits.unit)


def _formed(hits: Hits, queries: int | None, most_columns: int | None) -> Hits:
    """The hits with positions as int64, which positions of narrower integers become. Raises ContractError for
    hits of another form."""
    narrow = isinstance(hits.passages, np.ndarray) and hits.passages.dtype.kind in "iu"
    if narrow and np.can_cast(hits.passages.dtype, np.int64):
        hits = hits._replace(passages=hits.passages.astype(np.int64, copy=False))
    for name, array, dtype in (("passages", hits.passages, "int64"), ("scores", hits.scores, "float32")):
        if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype != np.dtype(dtype):
            form = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else repr(type(array))
            raise ContractError(f"the {name} of the hits are {form}; they must be {dtype}[queries, k]")
    if hits.passages.shape != hits.scores.shape:
        forms = f"{list(hits.passages.shape)} and {list(hits.scores.shape)}"
        raise ContractError(f"passages and scores of the hits have different shapes, {forms}")
    rows, width = hits.passages.shape
    if queries is not None and rows != queries:
        raise ContractError(f"hits for {rows} queries were returned; {queries} were asked")
    if most_columns is not None and width > most_columns:
        raise ContractError(f"{width} hits a query were returned; at most {most_columns} were asked for")
    return hits


def _check(passages: Ints, scores: Floats, size: int, start: int) -> None:
    """Raises ContractError for hits that break the contract. Their first row is the query `start`."""
    _refuse((passages < -1) | (passages >= size), passages, start, f"position {{}} is not in 0 to {size - 1}")
    _refuse(~np.isfinite(scores) & (passages >= 0), scores, start, "the score {} is not finite")
    narrow = np.sort(passages.astype(np.int32), axis=1) if size < 2**31 else np.sort(passages, axis=1)
    twice = (narrow[:, 1:] == narrow[:, :-1]) & (narrow[:, 1:] >= 0)
    if twice.any():
        row, column = np.argwhere(twice)[0]
        position = narrow[row, column]
        columns = np.flatnonzero(passages[row] == position)
        where = f"query {start + row}, columns {columns[0]} and {columns[1]}"
        raise ContractError(f"{where}: the position {position} is returned twice")


def _refuse(wrong: NDArray[np.bool_], values: NDArray[np.generic], start: int, text: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        where = f"query {start + row}, column {column}"
        raise ContractError(f"{where}: " + text.format(values[row, column]))


def _without(passages: Ints, exclude: Sequence[Ints], size: int) -> Ints:
    """The block of passages with -1 in the place of excluded positions."""
    rows = np.array([row for row, positions in enumerate(exclude) if len(positions)], np.int64)
    if len(rows) == 0:
        return passages
    unwanted = np.concatenate([row * size + np.asarray(exclude[row], np.int64) for row in rows])
    kept_passages = passages[rows]
    keys = np.where(kept_passages < 0, -1, kept_passages + rows[:, None] * size)
    passages = passages.copy()
    passages[rows] = np.where(np.isin(keys, unwanted), -1, kept_passages)
    return passages


def _first_of_each(positions: Ints) -> Ints:
    """The block with -1 in the place of each position that also stands further left in its row."""
    order = np.argsort(positions, axis=1, kind="stable")
    ordered = np.take_along_axis(positions, order, axis=1)
    again = np.zeros(positions.shape, np.bool_)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    kept = np.empty_like(positions)
    np.put_along_axis(kept, order, np.where(again, -1, ordered), axis=1)
    return kept


def _ordered(passages: Ints, scores: Floats, rank_of_id: NDArray[np.int32]) -> tuple[Ints, Floats]:
    """The block sorted by descending score, then by descending id, with fills last. Rows that are in order
    already, which most are, are not sorted."""
    scores = np.where(passages < 0, np.float32(-np.inf), scores)
    falling = (scores[:, :-1] > scores[:, 1:]) | (passages[:, 1:] < 0) & (passages[:, :-1] < 0)
    rows = np.flatnonzero(~falling.all(axis=1))
    if len(rows) == 0:
        return passages, scores
    ordered = passages[rows]
    keys = _falling_bits(scores[rows]).astype(np.uint64) << np.uint64(32)
    keys |= np.uint64(2**32 - 1) - np.where(ordered < 0, 0, rank_of_id[ordered]).astype(np.uint64)
    keys[ordered < 0] = np.uint64(2**64 - 1)
    order = np.argsort(keys, axis=1)  # unstable is enough: only fills share a key
    passages, scores = passages.copy(), scores.copy()
    passages[rows] = np.take_along_axis(ordered, order, axis=1)
    scores[rows] = np.take_along_axis(scores[rows], order, axis=1)
    return passages, scores


def _falling_bits(scores: Floats) -> NDArray[np.uint32]:
    """The scores (float32) as uint32 whose ascending order is the scores' descending order. The bits of IEEE
    754 numbers are ordered by sign and magnitude."""
    bits = (scores + np.float32(0)).view(np.uint32)  # turns -0.0 into 0.0, which is equal
    negative = bits >> np.uint32(31) == 1
    rising = np.where(negative, ~bits, bits | np.uint32(1 << 31))
    return ~rising
