"""The retriever behind the record: encodes a corpus, opens it, and searches it by inner product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.contracts import Texts
from harness.toolkit import exact
from harness.toolkit.encoding import vectors
from harness.toolkit.encoding.loop import encode
from harness.toolkit.encoding.passes import workers
from harness.toolkit.tokens import Lost
from harness.types import JSON, Hits, Unit
from harness_dense import DenseParams, towers

if TYPE_CHECKING:
    from harness.types import Floats, Ints


class Dense:
    def __init__(self, params: DenseParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        """Vectors in the order of the texts; half as wide where they were computed in bf16 or fp16."""
        params, tower = self._params, towers.passages(self._params)
        dimension, stored = tower.dimension, "fp32" if params.dtype in ("fp32", "stored") else "fp16"
        encoded = encode(
            texts,
            folder,
            lambda batch: towers.prepared(tower, batch.texts),
            tower.forwards,
            vectors.writer(folder, len(texts), dimension, stored),
        )
        told = {"dimension": dimension, "backend": params.backend, "dtype": params.dtype, "stored": stored}
        return {**told, **encoded.facts()}

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(towers.queries(self._params), vectors.read(folder), texts.unit)


class Search:
    """An open index."""

    def __init__(self, tower: towers.Tower, index: vectors.Vectors, unit: Unit) -> None:
        self._tower, self._index, self._unit = tower, index, unit
        self._lost = Lost()

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """Inner products (cosines, where vectors have the length 1) in fp32; exact."""
        asked = self._encoded(queries)
        places = None if within is None else self._places(within)
        found, scores = exact.search(asked, self._index.rows, k, places)
        passages = np.full((len(queries), k), -1, np.int64)
        worth = np.full((len(queries), k), -np.inf, np.float32)
        there = found >= 0
        width = found.shape[1]
        passages[:, :width][there] = self._index.positions[found[there]]
        worth[:, :width] = scores
        return Hits(passages, worth, self._unit)

    def report(self) -> Mapping[str, JSON]:
        return {"queries_cut": self._lost.texts, "query_tokens_lost": self._lost.tokens}

    def _encoded(self, queries: Sequence[str]) -> Floats:
        """float32[Q, d]"""
        if not queries:
            return np.zeros((0, self._index.rows.shape[1]), np.float32)
        found, lost = towers.prepared(self._tower, queries)
        self._lost = self._lost.plus(lost)
        with workers(self._tower.forwards) as run:
            rows = run(found, lambda count: None).rows
        return np.stack(rows).astype(np.float32)

    def _places(self, positions: Ints) -> Ints:
        """int64[Q, n]: the row of each position, -1 where it is none of a candidate."""
        known = self._index.positions
        if not len(known):
            return np.full(positions.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(known, positions), len(known) - 1)
        return np.where(known[place] == positions, place, -1)
