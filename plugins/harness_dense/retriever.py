"""The retriever `dense`: encodes a corpus, opens it, and searches it by inner product."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.plugin import JSON, Batch, Floats, HarnessError, Hits, IndexPart, Ints, Texts, Unit
from harness.toolkit.index.parts import gather
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.neural.encoding.loop import MARKS, SHARD, Encoding, encode
from harness.toolkit.neural.encoding.parts import Write
from harness.toolkit.neural.encoding.passes import BUDGET, BUDGETS, workers
from harness.toolkit.neural.tokens import Lost, Tokens
from harness.toolkit.search import exact
from harness_dense import DenseParams, forms, late, towers
from harness_dense.towers import Tower

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness_dense.faiss_options import Faiss

SAMPLED = 4096  # queries that are kept, so that recall can be measured on some of them


class Dense:
    def __init__(self, params: DenseParams) -> None:
        self._params = params

    block = SHARD

    @functools.cached_property  # the parts of one corpus share the tower; makers encode a few texts at a time
    def _tower(self) -> Tower:
        return towers.passages(self._params)

    @functools.cached_property
    def _query_tower(self) -> Tower:
        return towers.queries(self._params)

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        """Write the vectors of the texts, in their order, into `folder`, and return facts to report."""
        params, dimension = self._params, self._tower.dimension
        encoded = self._encode(texts, folder, forms.writer(folder, len(texts), dimension, params))
        facts = {"backend": params.backend, "dtype": params.dtype, **forms.facts(folder, params)}
        return {**facts, **encoded.facts()}

    def derive(self, texts: Texts, source: Path, folder: Path) -> Mapping[str, JSON]:
        return forms.derive(source, folder, self._params)

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        write = forms.writer(folder, stop - start, self._tower.dimension, self._params, start)
        self._encode(texts, folder, write, range(start, stop))

    def join(self, texts: Texts, parts: Sequence[IndexPart], folder: Path) -> Mapping[str, JSON]:
        forms.join(parts, folder, len(texts), self._params)
        gather(parts, folder, MARKS)
        return self.index(texts, folder)  # all texts are encoded already, and are not encoded again

    @property
    def whole_documents(self) -> bool:
        return self._params.late is not None

    def _encode(self, texts: Texts, folder: Path, write: Write, part: range | None = None) -> Encoding:
        tower, budget = self._tower, BUDGETS[self._params.device]
        if tower.late is not None:
            return late.encode(texts, folder, tower, write, budget, part)

        def prepare(batch: Batch) -> tuple[Tokens, Lost]:
            return towers.prepared(tower, batch.texts, batch.titles)

        return encode(texts, folder, prepare, tower.forwards, write, budget=budget, part=part)

    def encode(self, texts: Sequence[str], queries: bool) -> Floats:
        """float32[n, d]: the vectors of the texts, encoded as queries if `queries`, otherwise as passages."""
        tower = self._query_tower if queries else self._tower
        return _rows(tower, texts, self._params, BUDGETS[self._params.device])[0]

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(self._params, forms.read(folder, self._params), texts.unit)


class Search:
    """An open index. A faiss index is built here, when the vectors are opened, and the time counts as search.
    That is why a suite can try another faiss index without encoding anything again."""

    def __init__(self, params: DenseParams, index: forms.Form, unit: Unit) -> None:
        self._params = params
        self._tower, self._index, self._unit = towers.queries(params), index, unit
        self._lost = Lost()
        width, dimension = index.rows.shape[1], params.dimensions or self._tower.dimension
        if width != dimension:
            raise HarnessError(
                f"query_model: its vectors have {dimension} numbers and those of the passages {width}; name "
                "the tower that was trained with it"
            )
        self._faiss = (
            None if params.search == "exact" else Approximate(index.rows, params.search, params.device)
        )

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The hits of each query by inner product in fp32, which is the cosine for vectors of length 1. The
        scores are always exact. The choice of passages is exact too, except with a faiss index."""
        return self.search_vectors(self.encode(queries), k, within)

    def search_vectors(self, queries: Floats, k: int, within: Ints | None = None) -> Hits:
        vectors = np.ascontiguousarray(queries, np.float32)
        if within is None and self._faiss is not None:
            places, scores = self._faiss.search(vectors, k)
        else:
            named = None if within is None else rows_of(within, self._index.positions)
            places, scores = forms.search(vectors, self._index, k, named)
        return hits_of(places, scores, k, self._index.positions, self._unit)

    @property
    def counts(self) -> bool:
        """Whether `report` returns only counts."""
        return self._faiss is None

    def report(self) -> Mapping[str, JSON]:
        cut = {"queries_cut": self._lost.texts, "query_tokens_lost": self._lost.tokens}
        return {**cut, **(self._faiss.report() if self._faiss else {})}

    def encode(self, queries: Sequence[str]) -> Floats:
        """float32[Q, d]: the vectors of the queries."""
        rows, lost = _rows(self._tower, queries, self._params)
        self._lost = self._lost.plus(lost)
        return rows

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """float32[n, d]: the vectors of passages without titles."""
        return _rows(self._passage_tower, texts, self._params)[0]

    @functools.cached_property  # a rewriter encodes a few texts at a time
    def _passage_tower(self) -> Tower:
        return towers.passages(self._params)

    def vectors(self, positions: Ints) -> Floats:
        rows = rows_of(positions, self._index.positions)
        some = len(self._index.rows) > 0
        vectors = forms.floats(self._index, np.maximum(rows, 0)) if some else np.zeros((len(rows), 0))
        return np.where(rows[:, None] >= 0, vectors, 0).astype(np.float32)


def _rows(
    tower: Tower, texts: Sequence[str], params: DenseParams, budget: int = BUDGET
) -> tuple[Floats, Lost]:
    """float32[n, d]: the vectors of texts by a tower, and what was cut of them."""
    if not texts:
        return np.zeros((0, params.dimensions or tower.dimension), np.float32), Lost()
    if tower.late is not None:
        return forms.shaped(late.encoded(tower, texts, budget), params), Lost()
    tokens, lost = towers.prepared(tower, texts)
    with workers(tower.forwards, budget) as run:
        return forms.shaped(np.stack(run(tokens, lambda count: None).rows), params), lost


class Approximate:
    """A faiss index over `rows`, with a sample of the searched queries. The sample is kept to measure the
    index's recall."""

    def __init__(self, rows: NDArray[Any], options: Faiss, device: str) -> None:
        from harness_dense import faiss_search

        self._module, self._rows, self._options = faiss_search, rows, options
        self._index: Any = None
        self._facts: Mapping[str, JSON] = {}
        if len(rows):
            self._index, self._facts = faiss_search.placed(faiss_search.build(rows, options), options, device)
        self._sample: list[Floats] = []
        self._deepest = 0

    def search(self, queries: Floats, k: int) -> tuple[Ints, Floats]:
        if self._index is None:
            return exact.search(queries, self._rows, k)
        if sum(map(len, self._sample)) < SAMPLED:
            self._sample.append(queries)
        self._deepest = max(self._deepest, k)
        return self._module.search(self._index, queries, self._rows, k)

    def report(self) -> Mapping[str, JSON]:
        if not self._sample:
            return self._facts
        queries = np.concatenate(self._sample)
        recall = self._module.measured(self._index, queries, self._rows, self._deepest, self._options.seed)
        return {**self._facts, **recall}
