"""Spherical k-means over the vectors of an index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from harness.plugin import Floats, Ints
from harness.toolkit.neural import hardware
from harness_colbert import kernels, matching
from harness_colbert.storage import Index

PER_CENTROID, MOST = 32, 1 << 22  # vectors to learn from: for each centroid, and at most in all
ROUNDS = 4  # the default of ColBERT's code
SPAN = 1 << 16  # vectors in memory in fp32 at a time
PRODUCTS = 1 << 26  # inner products in a GPU's memory at a time


def usual(vectors: int) -> int:
    """The usual number of centroids: 16 times the root of the number of vectors, rounded down to a power of
    two, as in ColBERTv2's code (Santhanam et al. 2022, section 3.4: proportional to the root)."""
    return 1 << int(math.log2(16 * math.sqrt(vectors)))


def learnt(
    index: Index, count: int, seed: int, device: str = "cpu", without: Sequence[int] | Ints = ()
) -> Floats:
    """float32[count, d]: centroids of length 1, learnt from a seeded sample of the vectors (Dhillon and Modha
    2001, the spherical k-means algorithm). A centroid without vectors does not move. The sample has none of
    the vectors at `without`."""
    chance = np.random.default_rng(seed)
    total = sum(len(part.vectors) for part in index.parts)
    places = spread(total, min(total, PER_CENTROID * count, MOST), chance)
    sample = vectors_at(index, np.setdiff1d(places, without))
    sums = sample[spread(len(sample), count, chance)].astype(np.float64)
    centroids = np.zeros(sums.shape, np.float32)
    for _ in range(ROUNDS):
        centroids = _directions(sums, centroids)
        sums = np.zeros(centroids.shape, np.float64)
        for some in spans(sample):
            kernels.add_to_sums(some, nearest(some, centroids, device), sums)
    return _directions(sums, centroids)


def nearest(vectors: Floats, centroids: Floats, device: str = "cpu") -> NDArray[np.int32]:
    """int32[n]: for each vector (float32[n, d]) the number of the centroid (float32[C, d]) with the highest
    inner product; the first of equal ones."""
    numbers = np.zeros(len(vectors), np.int32)
    on_device = torch.from_numpy(centroids).to(device)
    step = matching.COLUMNS if device == "cpu" else max(1, PRODUCTS // len(on_device))

    def one(begin: int) -> None:
        some = vectors[begin : begin + step]
        if device != "cpu":
            similar = torch.from_numpy(some).to(device) @ on_device.T
            numbers[begin : begin + step] = similar.argmax(dim=1).cpu().numpy()
            return
        torch.set_num_threads(1)  # for this thread: other threads use the other cores
        with_some = matching.product(some)
        best = np.full(len(some), -np.inf, np.float32)
        for first in range(0, len(on_device), matching.TOKENS):
            similar = with_some(on_device[first : first + matching.TOKENS])
            kernels.raise_nearest(similar, first, best, numbers[begin : begin + step])

    with ThreadPoolExecutor(hardware.threads() if device == "cpu" else 1) as pool:
        list(pool.map(one, range(0, len(vectors), step)))
    return numbers


def spans(vectors: NDArray[Any]) -> Iterator[Floats]:
    for begin in range(0, len(vectors), SPAN):
        yield np.asarray(matching.widened(vectors[begin : begin + SPAN]).numpy())


def spread(total: int, count: int, chance: np.random.Generator) -> Ints:
    """int64[count], ascending: one random index from each of `count` equal parts of range(total)."""
    return ((np.arange(count) + chance.random(count)) * (total / count)).astype(np.int64).clip(0, total - 1)


def vectors_at(index: Index, places: Ints) -> NDArray[Any]:
    """The vectors at these indices (ascending) in the whole index, in their stored dtype."""
    first = np.cumsum([0, *(len(part.vectors) for part in index.parts)])
    cuts = np.searchsorted(places, first)
    rows = [
        part.vectors[places[begin:end] - start]
        for part, start, begin, end in zip(index.parts, first[:-1], cuts[:-1], cuts[1:], strict=True)
    ]
    return np.concatenate(rows)


def _directions(sums: NDArray[np.float64], otherwise: Floats) -> Floats:
    """The sums, normalised to length 1; for a sum of 0, the vector of `otherwise`."""
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(length > 0, sums / np.where(length > 0, length, 1), otherwise).astype(np.float32)
