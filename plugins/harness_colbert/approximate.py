"""Approximate search: centroids select the texts to compare. The recall against exact search is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np

from harness.plugin import JSON, Floats, Ints
from harness.toolkit.neural import hardware
from harness_colbert import Ivf, matching
from harness_colbert.inverted import Inverted, build, candidates
from harness_colbert.storage import Index

BLOCK = 256  # queries whose candidates are in memory at a time
SAMPLE = 64  # queries for measuring recall; each is compared with the whole corpus


def search(
    index: Index, inverted: Inverted, queries: Floats, options: Ivf, k: int, device: str = "cpu"
) -> tuple[Ints, Floats]:
    """The k best texts, in the form of `matching.search`, among the candidates of each query (float32[Q, L,
    d]). Their scores are exact."""
    places, scores = np.full((len(queries), k), -1, np.int64), np.zeros((len(queries), k), np.float32)
    for begin in range(0, len(queries), BLOCK):
        some = queries[begin : begin + BLOCK]
        with ThreadPoolExecutor(hardware.threads()) as pool:
            named = list(pool.map(candidates, repeat(inverted), some, repeat(options)))
        filled = np.full((len(some), max(map(len, named))), -1, np.int64)
        for row, texts in zip(filled, named, strict=True):
            row[: len(texts)] = texts
        best, worth = matching.among(index, some, filled, k, device)
        rows, width = slice(begin, begin + len(some)), best.shape[1]
        places[rows, :width], scores[rows, :width] = best, worth
    return places, scores


def stacked(queries: Sequence[Floats]) -> Floats:
    """float32[Q, L, d]: queries, filled with zeros up to the longest."""
    longest = max(map(len, queries))
    return np.stack([np.pad(query, ((0, longest - len(query)), (0, 0))) for query in queries])


class Approximate:
    """An inverted file over an open index. It keeps a sample of the queries, to measure the recall."""

    def __init__(self, index: Index, options: Ivf, device: str = "cpu") -> None:
        self._index, self._options, self._device = index, options, device
        any_vectors = any(len(part.vectors) for part in index.parts)
        self._inverted = build(index, options, device) if any_vectors else None
        self._chance = np.random.default_rng(options.seed)
        self._asked, self._deepest = 0, 0
        self._sample: list[Floats] = []

    def search(self, queries: Floats, k: int) -> tuple[Ints, Floats]:
        if self._inverted is None:
            return matching.search(self._index, queries, k, self._device)
        self._remember(queries)
        self._deepest = max(self._deepest, k)
        return search(self._index, self._inverted, queries, self._options, k, self._device)

    def report(self) -> Mapping[str, JSON]:
        """The recall of the k best texts against exact search, over a seeded sample of the queries."""
        if self._inverted is None:
            return {}
        facts: dict[str, JSON] = {"centroids": len(self._inverted.centroids)}
        if not self._sample or not self._deepest:
            return facts
        sample = stacked(self._sample)
        wanted, _ = matching.search(self._index, sample, self._deepest, self._device)
        approximate, _ = search(
            self._index, self._inverted, sample, self._options, self._deepest, self._device
        )
        filled = wanted >= 0  # the same in every row: every query is compared with the whole corpus
        shares = [
            np.isin(row[real], got).mean() for row, real, got in zip(wanted, filled, approximate, strict=True)
        ]
        depth = int(filled[0].sum())
        return {**facts, "recall": float(np.mean(shares)), "recall_at": depth, "recall_queries": len(sample)}

    def _remember(self, queries: Floats) -> None:
        """Updates the sample of the queries so far, in which each query is equally likely (Vitter 1985,
        algorithm R)."""
        for query in queries:
            place = self._asked if self._asked < SAMPLE else int(self._chance.integers(self._asked + 1))
            if place < SAMPLE:
                self._sample[place : place + 1] = [query]
            self._asked += 1
