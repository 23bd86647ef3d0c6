"""Exact search by inner product: the k best of many vectors for each query, in bounded memory.

A pair is first estimated by a fast matrix product whose error is bounded, and scored only if it may be among
the k best. So the results are those of scoring every pair by `exact_kernels.dot`, to the last bit, whatever
the product, the number of threads or queries, and the order of work.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.toolkit.neural import hardware
from harness.toolkit.search import exact_kernels as kernels
from harness.toolkit.search import exact_scan
from harness.toolkit.search.topk import NOTHING

if TYPE_CHECKING:
    from harness.types import Floats, Ints

QUERIES = 4096  # searched in one pass over the vectors
FEW = 8  # queries that are quicker to compare with every vector than to estimate first
CELLS = 1 << 22  # numbers of one block of vectors (16 MB), which stays in the last cache
TILE = 1024  # vectors of one product
WASTE = 16  # one pair in so many scored in vain, and finer estimates are worth it


class Best(NamedTuple):
    """The k best of each query so far."""

    k: int
    keys: NDArray[np.uint64]  # uint64[Q, room]
    sizes: Ints  # int64[Q]: how many of them are there
    floors: Floats  # float32[Q]: the score that a later place must exceed


def search(
    queries: Floats,
    vectors: NDArray[Any],
    k: int,
    within: Ints | None = None,
    *,
    threads: int | None = None,
) -> tuple[Ints, Floats]:
    """The places and inner products of the k best vectors for each query, best first, ties by place.

    `queries` is float32[Q, d]; `vectors` float32 or float16 [N, d], perhaps mapped from a file. `within`
    (int64[Q, n], -1 fills) names the places to look at in the place of all N. Both results have min(k, N)
    columns (min(k, n) with `within`); short rows are filled with -1 and -inf. The results do not depend on
    the number of threads.
    """
    queries, threads = np.require(queries, np.float32, ["C", "W"]), threads or hardware.threads()
    if within is not None:
        keys = kernels.encode(score(queries, vectors, within, threads=threads), within)
        keys.sort(axis=1)
        keys[:, 1:][keys[:, 1:] == keys[:, :-1]] = NOTHING  # named twice
        keys.sort(axis=1)
        return kernels.decode(keys[:, :k])
    k = min(k, len(vectors))
    if k == 0 or len(queries) == 0:
        return np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32)
    find = _directly if len(queries) <= FEW else _by_estimates
    results = [
        find(queries[start : start + QUERIES], vectors, k, threads)
        for start in range(0, len(queries), QUERIES)
    ]
    return kernels.decode(np.concatenate(results))


def score(queries: Floats, vectors: NDArray[Any], places: Ints, *, threads: int | None = None) -> Floats:
    """float32[Q, n]: the inner products of each query with the vectors at its places (int64[Q, n]); -inf
    where a place is -1. A pair's score is the same here as in `search`."""
    queries, threads = np.require(queries, np.float32, ["C", "W"]), threads or hardware.threads()
    if places.size and int(places.max()) >= len(vectors):
        raise IndexError(f"the place {places.max()} is not in 0 to {len(vectors) - 1}")
    places = np.require(places, np.int64, ["C", "W"])  # compiled for once
    scores = np.empty(places.shape, np.float32)

    def work(a: int, z: int) -> None:
        if vectors.dtype == np.float32:
            kernels.score_places(queries, _plain(vectors), places, scores, a, z)
            return
        for q in range(a, z):
            known = places[q] >= 0
            rows, columns = _plain(vectors[places[q, known]]), np.where(known, np.cumsum(known) - 1, -1)
            kernels.score_places(queries[q : q + 1], rows, columns[None], scores[q : q + 1], 0, 1)

    _spread(len(queries), threads, work)
    return scores


def _directly(queries: Floats, vectors: NDArray[Any], k: int, threads: int) -> NDArray[np.uint64]:
    """uint64[Q, k] by scoring every pair: every thread takes some of the vectors."""
    rows = _rows(vectors)
    parts: list[Best] = []

    def work(a: int, z: int) -> None:
        best = _nothing(len(queries), k)
        parts.append(best)
        for start in range(a, z, rows):
            block = _plain(vectors[start : min(start + rows, z)])
            kernels.compare(queries, block, start, k, best.keys, best.sizes, best.floors)

    _spread(len(vectors), threads, work, each=1)
    keys = np.concatenate([_cleared(best) for best in parts], axis=1)
    keys.sort(axis=1)
    return keys[:, :k]


def _by_estimates(queries: Floats, vectors: NDArray[Any], k: int, threads: int) -> NDArray[np.uint64]:
    """uint64[Q, k] by a scan of blocks of vectors: every thread takes some of the queries."""
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
            if scan.half and wasted * WASTE > len(queries) * len(block):
                scan = exact_scan.Singles(queries)
    keys = _cleared(best)
    keys.sort(axis=1)
    return keys[:, :k]


def _scan_block(
    scan: exact_scan.Scan, slack: Any, best: Best, queries: Floats, block: Floats, start: int, a: int, z: int
) -> int:
    """Compare the queries a to z - 1 with a block of vectors; how many pairs were scored in vain."""
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
    """The keys, with NOTHING where there are none."""
    best.keys[np.arange(best.keys.shape[1]) >= best.sizes[:, None]] = NOTHING
    return best.keys


def _rows(vectors: NDArray[Any]) -> int:
    """How many vectors a block has: whole tiles, and no more than there are."""
    count, dimension = vectors.shape
    tiles = max(1, CELLS // TILE // max(1, dimension))
    return int(TILE * min(tiles, -(-count // TILE)))


def _plain(vectors: NDArray[Any]) -> Floats:
    """The same numbers as float32, in a form that is compiled for once: contiguous and not to be written."""
    plain = np.ascontiguousarray(vectors, np.float32).view(np.ndarray)
    plain.flags.writeable = False
    return plain


def _spread(count: int, threads: int, work: Callable[[int, int], Any], each: int = 4) -> None:
    """Run `work(begin, end)` over `count` things in equal parts, `each` to a thread."""
    edges = np.linspace(0, count, min(count, each * threads) + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, edges[:-1], edges[1:]))
