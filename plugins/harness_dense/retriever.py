"""The retriever behind the record: encodes a corpus, opens it, and searches it by inner product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.contracts import Texts
from harness.errors import HarnessError
from harness.toolkit.index.positions import rows_of
from harness.toolkit.neural.encoding import vectors
from harness.toolkit.neural.encoding.loop import encode
from harness.toolkit.neural.encoding.passes import BUDGETS, workers
from harness.toolkit.neural.tokens import Lost
from harness.toolkit.search import exact
from harness.types import JSON, Hits, Unit
from harness_dense import DenseParams, towers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.toolkit.search.faiss_options import Faiss
    from harness.types import Floats, Ints

REMEMBERED = 4096  # queries, of which a sample tells the recall


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
            budget=BUDGETS[params.device],
        )
        told = {"dimension": dimension, "backend": params.backend, "dtype": params.dtype, "stored": stored}
        return {**told, **encoded.facts()}

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(self._params, vectors.read(folder), texts.unit)


class Search:
    """An open index. A faiss index is built when it is opened, from the vectors that all searches share: so
    another one encodes nothing again, and its time counts as search."""

    def __init__(self, params: DenseParams, index: vectors.Vectors, unit: Unit) -> None:
        self._tower, self._index, self._unit = towers.queries(params), index, unit
        self._lost = Lost()
        width, dimension = index.rows.shape[1], self._tower.dimension
        if width != dimension:
            raise HarnessError(
                f"query_model: its vectors have {dimension} numbers and those of the passages {width}; name "
                "the tower that was trained with it"
            )
        self._faiss = None if params.search == "exact" else Approximate(index.rows, params.search)

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """Inner products (cosines, where vectors have the length 1) in fp32. They are exact in any case, and
        so is what is found but for a faiss index."""
        asked = self._encoded(queries)
        if within is None and self._faiss is not None:
            found, scores = self._faiss.search(asked, k)
        else:
            places = None if within is None else rows_of(within, self._index.positions)
            found, scores = exact.search(asked, self._index.rows, k, places)
        passages = np.full((len(queries), k), -1, np.int64)
        worth = np.full((len(queries), k), -np.inf, np.float32)
        there, width = found >= 0, found.shape[1]
        passages[:, :width][there] = self._index.positions[found[there]]
        worth[:, :width] = scores
        return Hits(passages, worth, self._unit)

    def report(self) -> Mapping[str, JSON]:
        told = {"queries_cut": self._lost.texts, "query_tokens_lost": self._lost.tokens}
        return {**told, **(self._faiss.report() if self._faiss else {})}

    def _encoded(self, queries: Sequence[str]) -> Floats:
        """float32[Q, d]"""
        if not queries:
            return np.zeros((0, self._index.rows.shape[1]), np.float32)
        found, lost = towers.prepared(self._tower, queries)
        self._lost = self._lost.plus(lost)
        with workers(self._tower.forwards) as run:
            rows = run(found, lambda count: None).rows
        return np.stack(rows).astype(np.float32)


class Approximate:
    """Search by a faiss index; it remembers what was asked, to tell how much of the truth was found."""

    def __init__(self, rows: NDArray[Any], options: Faiss) -> None:
        from harness.toolkit.search import faiss_search

        self._by, self._rows, self._options = faiss_search, rows, options
        self._index = faiss_search.build(rows, options) if len(rows) else None
        self._asked: list[Floats] = []
        self._deepest = 0

    def search(self, queries: Floats, k: int) -> tuple[Ints, Floats]:
        if self._index is None:
            return exact.search(queries, self._rows, k)
        if sum(map(len, self._asked)) < REMEMBERED:
            self._asked.append(queries)
        self._deepest = max(self._deepest, k)
        return self._by.search(self._index, queries, self._rows, k)

    def report(self) -> Mapping[str, JSON]:
        if not self._asked:
            return {}
        asked = np.concatenate(self._asked)
        return self._by.measured(self._index, asked, self._rows, self._deepest, self._options.seed)
