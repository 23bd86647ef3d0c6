"""Selects the candidates of a fusion, looks up their scores in each input and ranks them.

Queries are handled as whole arrays, in blocks of bounded size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from harness.plugin import Floats, HarnessError, Hits, Ints, Structure, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]

BLOCK = 1 << 21  # candidates handled at once, which bounds memory (about 200 MB)


class Candidates(NamedTuple):
    """The pairs of a query and a position to rank, sorted by query and then position, each once."""

    rows: Ints  # int64[n]: the query within the block
    positions: Ints  # int64[n]
    queries: int
    unit: Unit


Score: TypeAlias = Callable[[Sequence[Hits], Candidates], "Doubles"]  # float64[n] for n candidates


def fused(inputs: Sequence[Hits], depth: int, structure: Structure, candidates: str, score: Score) -> Hits:
    """The `depth` best candidates of each query by `score`, best first, equal scores by position."""
    unit: Unit = "document" if all(hits.unit == "document" for hits in inputs) else "passage"
    queries = len(inputs[0].passages)
    positions = np.full((queries, depth), -1, dtype=np.int64)
    scores = np.full((queries, depth), -np.inf, dtype=np.float32)
    for start, stop in _blocks(inputs, structure, unit, candidates):
        block = [
            Hits(hits.passages[start:stop], hits.scores[start:stop], hits.unit)  # views, not copies
            for hits in inputs
        ]
        chosen = _candidates(block, structure, unit, candidates)
        _best(chosen, score(block, chosen).astype(np.float32), positions[start:stop], scores[start:stop])
    return Hits(positions, scores, unit)


def scores_at(hits: Hits, values: Doubles, candidates: Candidates, structure: Structure) -> Doubles:
    """float64[n]: the value of each candidate in an input, NaN if the input lacks it. `values` (float64[Q,
    k]) has the values of the input's `hits`. If the input ranks documents while passages are fused, a passage
    has its document's value."""
    targets = (
        structure.document_of[candidates.positions] if spread(hits, candidates) else candidates.positions
    )
    size = _size(structure, hits.unit)
    rows, columns = np.nonzero(hits.passages >= 0)
    keys = rows * size + hits.passages[rows, columns]
    order = np.argsort(keys)
    keys, wanted = keys[order], candidates.rows * size + targets
    result = np.full(len(wanted), np.nan)
    if len(keys):
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        matches = keys[places] == wanted
        result[matches] = values[rows, columns][order][places[matches]]
    return result


def checked_weights(name: str, weights: tuple[float, ...], inputs: int) -> tuple[float, ...]:
    """One weight for each input: `weights`, or 1 each if the suite gives none."""
    if weights and len(weights) != inputs:
        raise HarnessError(f"{name}.weights: {len(weights)} weights for {inputs} inputs; give one for each")
    return weights or (1.0,) * inputs


def spread(hits: Hits, candidates: Candidates) -> bool:
    """Whether the input `hits` ranks documents while passages are fused."""
    return hits.unit == "document" and candidates.unit == "passage"


def _candidates(block: Sequence[Hits], structure: Structure, unit: Unit, candidates: str) -> Candidates:
    chosen = _chosen(block, unit, candidates)
    size = _size(structure, unit)
    keys = np.concatenate([_keys(hits, structure, unit, size) for hits in chosen])
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows, positions = np.divmod(keys, max(size, 1))
    return Candidates(rows, positions, len(block[0].passages), unit)


def _chosen(inputs: Sequence[Hits], unit: Unit, candidates: str) -> Sequence[Hits]:
    """The inputs whose hits become candidates."""
    return inputs if candidates == "union" else [next(hits for hits in inputs if hits.unit == unit)]


def _keys(hits: Hits, structure: Structure, unit: Unit, size: int) -> Ints:
    """int64[m]: the key of each hit, query * size + position. If passages are fused, a document has the keys
    of all its candidate passages."""
    rows, columns = np.nonzero(hits.passages >= 0)
    positions = hits.passages[rows, columns]
    keys: Ints = rows * size + positions
    if hits.unit == unit:
        return keys
    first = structure.first[positions]
    lengths = structure.first[positions + 1] - first
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    passages: Ints = np.repeat(first, lengths) + within
    spread_keys: Ints = np.repeat(rows, lengths) * size + passages
    return np.compress(structure.candidate[passages], spread_keys)


def _best(candidates: Candidates, values: Floats, positions: Ints, scores: Floats) -> None:
    """Fill the rows of `positions` and `scores` (each [Q, depth]) with the best candidates."""
    counts = np.bincount(candidates.rows, minlength=candidates.queries)
    starts = np.cumsum(counts) - counts
    order = _descending(values, candidates.rows, counts, starts)[:, : positions.shape[1]]
    filled = np.arange(order.shape[1]) < counts[:, None]
    best = (starts[:, None] + order)[filled]
    positions[:, : order.shape[1]][filled] = candidates.positions[best]
    scores[:, : order.shape[1]][filled] = values[best]


def _descending(values: Floats, rows: Ints, counts: Ints, starts: Ints) -> Ints:
    """int64[Q, widest]: for each query the indices of its candidates, by descending value, then by index.

    A value and its index are packed into one integer, because sorting integers is several times as
    fast as a stable sort of floats. The bits of a float sort like an integer's, except for the sign.
    """
    bits = (values + np.float32(0)).view(np.int32).astype(np.int64)  # + 0 makes -0.0 and 0.0 equal
    falling = np.where(bits >= 0, 0x7FFFFFFF - bits, 0x7FFFFFFF + (bits & 0x7FFFFFFF))
    places = np.arange(len(rows)) - starts[rows]
    packed = np.full((len(counts), counts.max(initial=0)), np.iinfo(np.int64).max)
    packed[rows, places] = falling << 31 | places
    packed.sort(axis=1)
    return packed & 0x7FFFFFFF


def _blocks(
    inputs: Sequence[Hits], structure: Structure, unit: Unit, candidates: str
) -> Iterator[tuple[int, int]]:
    """Ranges of queries that are fused at once. A range has at most BLOCK cells (its queries times the
    largest number of candidates of a query), or is a single query."""
    widths = np.zeros(len(inputs[0].passages), dtype=np.int64)
    lengths = np.diff(structure.first)
    for hits in _chosen(inputs, unit, candidates):
        filled = hits.passages >= 0
        spreads = hits.unit != unit
        widths += np.where(filled, lengths[hits.passages] if spreads else 1, 0).sum(axis=1)
    start, widest = 0, 1
    for query, width in enumerate(widths.tolist()):
        widest = max(widest, width)
        if query > start and widest * (query + 1 - start) > BLOCK:
            yield start, query
            start, widest = query, max(width, 1)
    if len(widths) > start:
        yield start, len(widths)


def _size(structure: Structure, unit: Unit) -> int:
    return len(structure.document_of) if unit == "passage" else len(structure.first) - 1
