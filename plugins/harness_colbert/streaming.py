"""Searches while it encodes: passages are compared with all queries shard by shard, and no vector is kept."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.plugin import JSON, Batch, Floats, Hits, Ints, Texts
from harness.toolkit.files.writing import replacing
from harness.toolkit.neural.encoding.loop import distrust, encode
from harness.toolkit.neural.encoding.parts import Shard
from harness.toolkit.neural.encoding.passes import BUDGETS, workers
from harness_colbert import ColbertParams, matching, retriever, storage
from harness_colbert.storage import Index, Part

EVERY = 30.0  # about as many seconds of work are lost when a run is killed


class Streamed:
    """A searcher without an index. The vectors are those of `stored: fp32`, made in the same batches."""

    def __init__(self, params: ColbertParams, texts: Texts) -> None:
        self._ask, self._encoder = retriever.Asker(params), retriever.encoder(params, "fp32")
        self._texts, self._device = texts, params.device
        self._facts: dict[str, JSON] = {}

    def search_all(self, queries: Sequence[str], k: int, folder: Path) -> Hits:
        """The hits of all queries. Memory holds the queries' vectors, their k best and one shard. `folder`
        keeps the best of the shards that are done, so that a killed run continues after them."""
        vectors = self._ask(queries)
        keys, done = _read(folder, len(queries), k)
        distrust(folder, lambda number: number < done)
        compare, saved = matching.comparer(vectors, self._device), time.monotonic()

        def write(shard: Shard) -> None:
            nonlocal keys, saved
            if shard.number < done:  # killed after the best were kept and before the shard was marked
                return
            keys = matching.better(keys, compare, _part(shard.rows), shard.positions, self._device)
            if time.monotonic() - saved > EVERY:
                _write(folder, keys, shard.number + 1)
                saved = time.monotonic()

        prepare, forwards, _ = self._encoder
        budget = BUDGETS[self._device]
        encoding = encode(self._texts, folder, prepare, forwards, write, shard=storage.SHARD, budget=budget)
        self._facts = encoding.facts()
        keys.sort(axis=1)
        places, scores = matching.decoded(keys)
        return Hits(places, np.where(places >= 0, scores, np.float32(-np.inf)), self._texts.unit)

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        if within is None:
            with tempfile.TemporaryDirectory() as folder:
                return self.search_all(queries, k, Path(folder))
        named = np.sort(within, axis=1)
        named[:, 1:][named[:, 1:] == named[:, :-1]] = -1  # each once
        keys = np.where(named >= 0, matching.encoded(self.score(queries, named), named), matching.NOTHING)
        keys.sort(axis=1)
        places, scores = matching.decoded(keys[:, :k])
        hits = Hits(
            np.full((len(queries), k), -1, np.int64),
            np.full((len(queries), k), -np.inf, np.float32),
            self._texts.unit,
        )
        hits.passages[:, : places.shape[1]] = places
        hits.scores[:, : places.shape[1]] = np.where(places >= 0, scores, np.float32(-np.inf))
        return hits

    def score(self, queries: Sequence[str], positions: Ints) -> Floats:
        """float32[Q, n]: the score of each query with its passages (int64[Q, n], -1 fills); 0 for -1. Each
        passage is encoded once."""
        vectors = self._ask(queries)
        scores = np.zeros(positions.shape, np.float32)
        wanted = np.unique(positions[positions >= 0])
        prepare, forwards, dimension = self._encoder
        for start in range(0, len(wanted), storage.SHARD):
            some = wanted[start : start + storage.SHARD]
            batch = Batch(some, self._texts.take(some), [])
            with workers(forwards, BUDGETS[self._device]) as run:
                rows = run(prepare(batch)[0], lambda count: None).rows
            index = Index(some, np.array([0, len(some)]), [_part(rows)], dimension)
            within = np.where(np.isin(positions, some), np.searchsorted(some, positions), -1)
            scores += matching.score(index, vectors, within, self._device)
        return scores

    def report(self) -> Mapping[str, JSON]:
        return {**self._ask.report(), **self._facts}


class Scorer:
    """The re-ranker's scores of candidates, which are encoded when they are scored."""

    def __init__(self, streamed: Streamed) -> None:
        self._streamed = streamed

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        return self._streamed.score(queries, candidates)

    def report(self) -> Mapping[str, JSON]:
        return self._streamed.report()


def _part(rows: Sequence[NDArray[np.float32]]) -> Part:
    bounds = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Part(bounds, np.concatenate(rows))


def _read(folder: Path, queries: int, k: int) -> tuple[NDArray[np.uint64], int]:
    """The best so far, and the number of shards that they are of."""
    path = folder / "best.npz"
    if path.is_file():
        with np.load(path) as kept:
            if kept["keys"].shape == (queries, k):
                return kept["keys"], int(kept["shards"])
    return np.full((queries, k), matching.NOTHING), 0


def _write(folder: Path, keys: NDArray[np.uint64], shards: int) -> None:
    with replacing(folder / "best.npz") as path, path.open("wb") as file:
        np.savez(file, keys=keys, shards=shards)
