"""Exact search by inner product: the k best of many vectors for each query, in bounded memory.

A fast matrix product with a bounded error first estimates each pair. A pair is scored only if its estimate
allows it to be among the k best. The results therefore equal those of scoring every pair by
`exact_kernels.dot`, to the last bit, whatever the product, the number of threads or queries, and the order of
work.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.toolkit.neural import hardware
from harness.toolkit.neural.encoding.int8 import Scaled
from harness.toolkit.search import exact_kernels as kernels
from harness.toolkit.search import exact_scan
from harness.toolkit.search.topk import NOTHING

if TYPE_CHECKING:
    from harness.types import Floats, Ints

Result = TypeVar("Result")
QUERIES = 4096  # queries searched in one pass over the vectors
_FEW = 8  # up to this many queries, scoring every pair is quicker than estimating first
CELLS = 1 << 22  # numbers in one block of vectors (16 MB), which stays in the last-level cache
TILE = 1024  # vectors in one matrix product
_WASTE = 16  # if more than one pair in 16 is scored in vain, finer estimates are quicker


class Best(NamedTuple):
    """The keys of the k best vectors of each query so far."""

    k: int
    keys: NDArray[np.uint64]  # uint64[Q, room]
    sizes: Ints  # int64[Q]: how many keys each query has
    floors: Floats  # float32[Q]: the score that a vector at a later place must exceed


def search(
    queries: Floats,
    vectors: NDArray[Any],
    k: int,
    within: Ints | None = None,
    *,
    threads: int | None = None,
) -> tuple[Ints, Floats]:
    """The places and inner products of the k best vectors for each query, best first, ties by place.

    `queries` is float32[Q, d]; `vectors` is float32 or float16 [N, d], perhaps mapped from a file. `within`
    (int64[Q, n], filled with -1) restricts the search for each query to these places. Both results have
    min(k, N) columns (min(k, n) with `within`); short rows are filled with -1 and -inf. The results do not
    depend on the number of threads.
    """
    queries, threads = np.require(queries, np.float32, ["C", "W"]), threads or hardware.threads()
    if within is not None:
        keys = kernels.encode(score(queries, vectors, within, threads=threads), within)
        keys.sort(axis=1)
        keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NOTHING  # a place that is named twice
        keys.sort(axis=1)
        return kernels.decode(keys[:, :k])
    k = min(k, len(vectors))
    if k == 0 or len(queries) == 0:
        return np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32)
    find = _directly if len(queries) <= _FEW else _by_estimates
    results = [
        find(queries[start : start + QUERIES], vectors, k, threads)
        for start in range(0, len(queries), QUERIES)
    ]
    return kernels.decode(np.concatenate(results))


def score(queries: Floats, vectors: NDArray[Any], places: Ints, *, threads: int | None = None) -> Floats:
    """float32[Q, n]: the inner products of each query with the vectors at its places (int64[Q, n]); -inf for
    a place of -1. A pair has the same score here as in `search`."""
    queries, threads = np.require(queries, np.float32, ["C", "W"]), threads or hardware.threads()
    if places.size and int(places.max()) >= len(vectors):
        raise IndexError(f"the place {places.max()} is not in 0 to {len(vectors) - 1}")
    places = np.require(places, np.int64, ["C", "W"])  # one type, so that the loop is compiled once
    scores = np.empty(places.shape, np.float32)

    def work(a: int, z: int) -> None:
        if vectors.dtype == np.float32:
            kernels.score_places(queries, _plain(vectors), places, scores, a, z)
            return
        for q in range(a, z):
            known = places[q] >= 0
            rows, columns = _plain(vectors[places[q, known]]), np.where(known, np.cumsum(known) - 1, -1)
            kernels.score_places(queries[q : q + 1], rows, columns[None], scores[q : q + 1], 0, 1)

    spread(len(queries), threads, work)
    return scores


def _directly(queries: Floats, vectors: NDArray[Any], k: int, threads: int) -> NDArray[np.uint64]:
    """uint64[Q, k]: the keys of the k best, found by scoring every pair. Each thread takes some of the
    vectors."""
    rows = _rows(vectors)
    rounded = exact_scan.rounded(queries) if isinstance(vectors, Scaled) else None
    parts: list[Best] = []

    def work(a: int, z: int) -> None:
        best = _nothing(len(queries), k)
        parts.append(best)
        if isinstance(vectors, Scaled) and rounded is not None:
            kernels.compare_whole(queries, *rounded, *vectors.part(a, z), a, *best)
            return
        for start in range(a, z, rows):
            block = _plain(vectors[start : min(start + rows, z)])
            kernels.compare(queries, block, start, k, best.keys, best.sizes, best.floors)

    spread(len(vectors), threads, work, each=1)
    keys = np.concatenate([_cleared(best) for best in parts], axis=1)
    keys.sort(axis=1)
    return keys[:, :k]


def _by_estimates(queries: Floats, vectors: NDArray[Any], k: int, threads: int) -> NDArray[np.uint64]:
    """uint64[Q, k]: the keys of the k best, found by estimating blocks of vectors. Each thread takes some of
    the queries."""
    rows, best = _rows(vectors), _nothing(len(queries), k)
    centre = np.nan_to_num(_plain(vectors[:rows]).mean(axis=0), posinf=0, neginf=0)
    scan = exact_scan.choose(queries, rows, centre)
    edges = np.linspace(0, len(queries), min(2 * threads, -(-len(queries) // 64)) + 1).astype(int).tolist()
    with exact_scan.workers(threads) as pool:
        for start in range(0, len(vectors), rows):
            block = _plain(vectors[start : start + rows])
            slack = scan.load(block, pool)
            work = partial(_scan_block, scan, slack, best, queries, block, start)
            wasted = sum(pool.map(work, edges[:-1], edges[1:]))
            if scan.half and wasted * _WASTE > len(queries) * len(block):
                scan = exact_scan.Singles(queries)
    keys = _cleared(best)
    keys.sort(axis=1)
    return keys[:, :k]


def _scan_block(
    scan: exact_scan.Scan, slack: Any, best: Best, queries: Floats, block: Floats, start: int, a: int, z: int
) -> int:
    """Compares the queries a to z - 1 with a block of vectors, and returns how many pairs were scored in
    vain."""
    wasted = 0
    for first in range(0, len(block), TILE):
        tile, estimates = block[first : first + TILE], scan.estimates(a, z, first, first + TILE)
        place = start + first
        wasted += int(
            kernels.scan(estimates, scan.half, scan.coarse, slack, queries, a, z, tile, place, *best)
        )
    return wasted


def _nothing(queries: int, k: int) -> Best:
    room = k + max(k // 2, 64)
    keys, sizes = np.empty((queries, room), np.uint64), np.zeros(queries, np.int64)
    return Best(k, keys, sizes, np.full(queries, -np.inf, np.float32))


def _cleared(best: Best) -> NDArray[np.uint64]:
    """The keys of all queries, with NOTHING in unused places."""
    best.keys[np.arange(best.keys.shape[1]) >= best.sizes[:, None]] = NOTHING
    return best.keys


def _rows(vectors: NDArray[Any]) -> int:
    """How many vectors a block has: whole tiles, and no more of them than the vectors fill."""
    count, dimension = vectors.shape
    tiles = max(1, CELLS // TILE // max(1, dimension))
    return int(TILE * min(tiles, -(-count // TILE)))


def _plain(vectors: NDArray[Any]) -> Floats:
    """The vectors as float32, contiguous and read-only: loops are then compiled for one type only."""
    if vectors.dtype == np.float16:
        plain = np.empty(vectors.shape, np.float32)
        halves = np.ascontiguousarray(vectors).view(np.ndarray).view(np.uint16).reshape(-1)
        halves.flags.writeable = False
        kernels.widened(halves, plain.view(np.uint32).reshape(-1))
    else:
        plain = np.ascontiguousarray(vectors, np.float32).view(np.ndarray)
    plain.flags.writeable = False
    return plain


def spread(count: int, threads: int, work: Callable[[int, int], Result], each: int = 4) -> list[Result]:
    """Runs `work(begin, end)` over the range 0 to `count` in equal parts, `each` parts to a thread, and
    returns the results in order."""
    edges = np.linspace(0, count, min(count, each * threads) + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, edges[:-1], edges[1:]))
