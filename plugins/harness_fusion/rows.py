"""Which candidates a fusion ranks, how each input scores them, and the best of them: whole arrays of
queries at a time, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from harness.types import Hits, Structure, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Floats, Ints

    Doubles: TypeAlias = NDArray[np.float64]

BLOCK = 1 << 21  # candidates worked on at once, which bounds memory (some 200 MB)


class Candidates(NamedTuple):
    """What is ranked, ordered by query and position, each pair once."""

    rows: Ints  # int64[n]: the query within the block
    positions: Ints  # int64[n]
    queries: int
    unit: Unit


Score: TypeAlias = Callable[[Sequence[Hits], Candidates], "Doubles"]  # float64[n] for n candidates


def fused(inputs: Sequence[Hits], depth: int, structure: Structure, candidates: str, score: Score) -> Hits:
    """The `depth` best candidates of each query, best first, ties by position."""
    unit: Unit = "document" if all(hits.unit == "document" for hits in inputs) else "passage"
    queries = len(inputs[0].passages)
    positions = np.full((queries, depth), -1, dtype=np.int64)
    scores = np.zeros((queries, depth), dtype=np.float32)
    for start, stop in _blocks(inputs, structure, unit, candidates):
        block = [
            Hits(hits.passages[start:stop], hits.scores[start:stop], hits.unit)  # views, not copies
            for hits in inputs
        ]
        found = _candidates(block, structure, unit, candidates)
        _best(found, score(block, found).astype(np.float32), positions[start:stop], scores[start:stop])
    return Hits(positions, scores, unit)


def scores_at(hits: Hits, values: Doubles, found: Candidates, structure: Structure) -> Doubles:
    """float64[n]: what `values` (float64[Q, k], beside the hits) holds for each candidate, or for its
    document; NaN where the input lacks it."""
    targets = structure.document_of[found.positions] if spread(hits, found) else found.positions
    size = _size(structure, hits.unit)
    rows, columns = np.nonzero(hits.passages >= 0)
    keys = rows * size + hits.passages[rows, columns]
    order = np.argsort(keys)
    keys, wanted = keys[order], found.rows * size + targets
    result = np.full(len(wanted), np.nan)
    if len(keys):
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[places] == wanted
        result[there] = values[rows, columns][order][places[there]]
    return result


def spread(hits: Hits, found: Candidates) -> bool:
    """Whether this input ranks documents where passages are wanted."""
    return hits.unit == "document" and found.unit == "passage"


def _candidates(block: Sequence[Hits], structure: Structure, unit: Unit, candidates: str) -> Candidates:
    chosen = _chosen(block, unit, candidates)
    size = _size(structure, unit)
    keys = np.concatenate([_keys(hits, structure, unit, size) for hits in chosen])
    keys = np.sort(keys) if len(chosen) == 1 else np.unique(keys)  # the harness refused duplicates
    rows, positions = np.divmod(keys, max(size, 1))
    return Candidates(rows, positions, len(block[0].passages), unit)


def _chosen(inputs: Sequence[Hits], unit: Unit, candidates: str) -> Sequence[Hits]:
    """The inputs whose hits are candidates."""
    return inputs if candidates == "union" else [next(hits for hits in inputs if hits.unit == unit)]


def _keys(hits: Hits, structure: Structure, unit: Unit, size: int) -> Ints:
    """int64[m]: query * size + position of each hit, a document being all its passages."""
    rows, columns = np.nonzero(hits.passages >= 0)
    positions = hits.passages[rows, columns]
    keys: Ints = rows * size + positions
    if hits.unit == unit:
        return keys
    first = structure.first[positions]
    lengths = structure.first[positions + 1] - first
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    passages = np.repeat(first, lengths) + within
    kept = structure.candidate[passages]
    keys = np.repeat(rows, lengths)[kept] * size + passages[kept]
    return keys


def _best(found: Candidates, values: Floats, positions: Ints, scores: Floats) -> None:
    """Fill the rows of `positions` and `scores` (each [Q, depth]) with the best candidates.

    One sort of integers does it all: query, score (descending) and place in order of position.
    """
    order = _descending(values, found.rows)
    counts = np.bincount(found.rows, minlength=found.queries)
    ranks = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = ranks < positions.shape[1]
    rows, ranks, order = found.rows[kept], ranks[kept], order[kept]
    positions[rows, ranks] = found.positions[order]
    scores[rows, ranks] = values[order]


def _descending(values: Floats, rows: Ints) -> Ints:
    """int64[n]: the stable order by row, then by falling value; `rows` ascends."""
    order = np.argsort(-values, kind="stable")
    return order[np.argsort(rows[order], kind="stable")]


def _blocks(
    inputs: Sequence[Hits], structure: Structure, unit: Unit, candidates: str
) -> Iterator[tuple[int, int]]:
    """Ranges of queries with at most BLOCK candidates and hits, or of one query."""
    per_query = np.zeros(len(inputs[0].passages), dtype=np.int64)
    chosen = _chosen(inputs, unit, candidates)
    lengths = np.diff(structure.first)
    for hits in inputs:
        there = hits.passages >= 0
        per_query += there.sum(axis=1)
        if hits.unit != unit and any(hits is one for one in chosen):
            per_query += np.where(there, lengths[hits.passages], 0).sum(axis=1)
    start, held = 0, 0
    for query, count in enumerate(per_query.tolist()):
        if held + count > BLOCK and query > start:
            yield start, query
            start, held = query, 0
        held += count
    if len(per_query) > start:
        yield start, len(per_query)


def _size(structure: Structure, unit: Unit) -> int:
    return len(structure.document_of) if unit == "passage" else len(structure.first) - 1
