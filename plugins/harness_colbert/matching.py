"""Computes exact MaxSim of queries with texts, in blocks that fit the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from harness.plugin import Floats, Ints
from harness.toolkit.neural import hardware
from harness_colbert import kernels
from harness_colbert.storage import Index, Part

TOKENS = 512  # about the number of text tokens that are compared at a time
TEXTS = 32  # candidates of a query that are compared at a time
COLUMNS = 256  # about the number of query vectors that are compared at a time
NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)  # the key of an empty place: worse than any other key

Compare: TypeAlias = "Callable[[NDArray[Any], Ints, Floats], None]"
"""(vectors [t, d], bounds int64[n + 1], scores float32[Q, n] to fill)"""


def search(index: Index, queries: Floats, k: int, device: str = "cpu") -> tuple[Ints, Floats]:
    """The numbers of the k best texts for each query (float32[Q, L, d]) and their scores, best first, ties by
    number; short rows are filled with -1 and 0. Memory holds two parts of the index and their scores."""
    keys = np.full((len(queries), k), NOTHING)
    compare = comparer(queries, device)
    for first, end, part in zip(index.first[:-1], index.first[1:], index.parts, strict=True):
        keys = better(keys, compare, part, np.arange(first, end), device)
    keys.sort(axis=1)
    return decoded(keys)


def better(
    keys: NDArray[np.uint64], compare: Compare, part: Part, places: Ints, device: str = "cpu"
) -> NDArray[np.uint64]:
    """The best texts of each query among those of `keys` (uint64[Q, k]) and of a part, in no order. `places`
    (int64[n]) are the numbers of the part's texts."""
    queries, k = keys.shape
    scores = np.empty((queries, len(places)), np.float32)
    with ThreadPoolExecutor(hardware.threads() if device == "cpu" else 1) as pool:
        list(pool.map(_block, repeat(compare), repeat(part), blocks(part), repeat(scores)))
    keys = np.hstack([keys, encoded(scores, np.broadcast_to(places, scores.shape))])
    if keys.shape[1] > k:
        keys = np.partition(keys, k - 1, axis=1)[:, :k] if k else keys[:, :0]
    return keys


def score(index: Index, queries: Floats, texts: Ints, device: str = "cpu") -> Floats:
    """float32[Q, n]: the scores of each query (float32[Q, L, d]) with its texts (int64[Q, n], by number); 0
    for a text of -1."""
    scores = np.zeros(texts.shape, np.float32)

    def one(row: int) -> None:
        places_of_row = np.flatnonzero(texts[row] >= 0)
        compare = comparer(queries[row : row + 1], device)
        for places in np.array_split(places_of_row, max(1, len(places_of_row) // TEXTS)):
            vectors, bounds = gathered(index, texts[row, places])
            row_scores = np.empty((1, len(places)), np.float32)
            compare(vectors, bounds, row_scores)
            scores[row, places] = row_scores[0]

    with ThreadPoolExecutor(hardware.threads() if device == "cpu" else 1) as pool:
        list(pool.map(one, range(len(queries))))
    return scores


def among(index: Index, queries: Floats, texts: Ints, k: int, device: str = "cpu") -> tuple[Ints, Floats]:
    """The k best of each query's given texts, in the form of `search`. `texts` is int64[Q, n], by number,
    each once, filled with -1."""
    keys = np.where(texts >= 0, encoded(score(index, queries, texts, device), texts), NOTHING)
    keys.sort(axis=1)
    return decoded(keys[:, :k])


def comparer(queries: Floats, device: str) -> Compare:
    """A function that compares texts with these queries (float32[Q, L, d]), with all sums in fp32."""
    count, length, dimension = queries.shape
    step = max(1, COLUMNS // max(length, 1))
    starts = range(0, count, step)
    rows = [queries[start : start + step].reshape(-1, dimension) for start in starts]
    if device != "cpu":
        on_device = [torch.from_numpy(part).to(device) for part in rows]
        return lambda vectors, bounds, scores: _anywhere(on_device, vectors, bounds, scores, length)
    products = [product(part) for part in rows]

    def compare(vectors: NDArray[Any], bounds: Ints, scores: Floats) -> None:
        torch.set_num_threads(1)  # for this thread: other threads use the other cores
        wide = widened(vectors)
        for start, with_part in zip(starts, products, strict=True):
            kernels.sum_of_best(with_part(wide), bounds, length, scores[start : start + step])

    return compare


def widened(vectors: NDArray[Any]) -> torch.Tensor:
    """The vectors copied to fp32, [t, d]. From fp16, torch takes a tenth of the time that numpy takes."""
    return torch.from_numpy(np.array(vectors)).float()  # a copy, because torch wants a writeable array


def product(columns: Floats) -> Callable[[torch.Tensor], Floats]:
    """A function that multiplies vectors [t, d] with `columns` (float32[n, d]): float32[t, n]."""
    on_device = torch.from_numpy(columns)
    if not torch.backends.mkldnn.is_available():
        return lambda rows: np.asarray((rows @ on_device.T).numpy())
    packed = torch.ops.mkldnn._reorder_linear_weight(on_device, TOKENS)  # halves the time of a product
    multiply = torch.ops.mkldnn._linear_pointwise
    return lambda rows: np.asarray(multiply(rows, packed, None, "none", [], "").numpy())


def _anywhere(
    queries: Sequence[torch.Tensor], vectors: NDArray[Any], bounds: Ints, scores: Floats, length: int
) -> None:
    """Compares as `comparer` does, with torch alone, on the device of the queries."""
    wide = widened(vectors).to(queries[0].device)
    lengths = torch.from_numpy(np.diff(bounds)).to(wide.device)
    start = 0
    for part in queries:
        best = torch.segment_reduce(wide @ part.T, "max", lengths=lengths, axis=0)  # [n, q * L]
        sums = best.reshape(len(best), -1, length).sum(dim=2).T  # [q, n]
        scores[start : start + len(sums)] = sums.cpu().numpy()
        start += len(sums)


def blocks(part: Part) -> Iterator[tuple[int, int]]:
    """Yields ranges of whole texts with about TOKENS tokens in total."""
    begin, texts = 0, len(part.bounds) - 1
    while begin < texts:
        end = int(np.searchsorted(part.bounds, part.bounds[begin] + TOKENS, "right")) - 1
        end = max(end, begin + 1)
        yield begin, end
        begin = end


def _block(compare: Compare, part: Part, block: tuple[int, int], scores: Floats) -> None:
    begin, end = block
    bounds = part.bounds[begin : end + 1]
    compare(part.vectors[bounds[0] : bounds[-1]], bounds, scores[:, begin:end])


def gathered(index: Index, texts: Ints) -> tuple[NDArray[Any], Ints]:
    """The vectors of some texts, text by text, and the bounds of each text."""
    where = np.searchsorted(index.first, texts, "right") - 1
    gathered_rows, counts = [], []
    for run in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(where)) + 1):  # texts of one part
        if not len(run):
            continue
        part = index.parts[where[run[0]]]
        inside = texts[run] - index.first[where[run[0]]]
        starts, many = part.bounds[inside], part.bounds[inside + 1] - part.bounds[inside]
        steps = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        gathered_rows.append(part.vectors[np.repeat(starts, many) + steps])
        counts.append(many)
    bounds = np.cumsum([0, *np.concatenate([*counts, []])], dtype=np.int64)
    empty = np.empty((0, index.dimension), np.float32)
    return np.concatenate(gathered_rows) if gathered_rows else empty, bounds


def encoded(scores: Floats, places: Ints) -> NDArray[np.uint64]:
    """Keys: numbers that are smaller for higher scores and, among equal scores, for lower places."""
    bits = (scores + np.float32(0)).view(np.uint32)  # + 0 turns -0 into 0
    rising = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return (np.uint64(0xFFFFFFFF) - rising.astype(np.uint64)) << np.uint64(32) | places.astype(np.uint64)


def decoded(keys: NDArray[np.uint64]) -> tuple[Ints, Floats]:
    """The places and scores of keys; -1 and 0 for NOTHING."""
    nothing = keys == NOTHING
    rising = np.uint32(0xFFFFFFFF) - (keys >> np.uint64(32)).astype(np.uint32)
    bits = np.where(rising >> 31, rising & np.uint32(0x7FFFFFFF), ~rising)
    places = np.where(nothing, -1, (keys & np.uint64(0xFFFFFFFF)).astype(np.int64))
    return places, np.where(nothing, np.float32(0), bits.view(np.float32))
