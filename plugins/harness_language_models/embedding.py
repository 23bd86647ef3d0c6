"""The retriever `embeddings` gets the vectors of texts from a service and searches them exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.plugin import JSON, Floats, HarnessError, Hits, Ints, Texts, Unit
from harness.toolkit import services
from harness.toolkit.index import files
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.search import exact
from harness_language_models import EmbeddingParams, grouping

if TYPE_CHECKING:
    from numpy.typing import NDArray


FORMAT = files.Format("harness-embeddings", 1)
TEXTS = 2048  # texts encoded between two reports of progress


class Embedding:
    def __init__(self, params: EmbeddingParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        """Ask the service for the vectors of all texts, and write them. Answers that arrived before a run was
        killed are in the store and are not asked for again."""
        files.begin(folder)
        client = services.Client(self._params.service)
        positions: list[Ints] = []
        parts: list[Floats] = []
        facts: dict[str, JSON] = {}
        done = 0
        together = self._params.documents is not None and texts.unit == "passage"
        vectors = self._grouped(client, texts, facts) if together else self._alone(client, texts)
        for some, rows in vectors:
            parts.append(rows)
            positions.append(some.astype(np.int64))
            done += len(some)
            texts.progress(done)
        client.close()
        parts = [part for part in parts if len(part)]
        if len({part.shape[1] for part in parts}) > 1:
            raise HarnessError(f"{self._params.service.url}: gave vectors of different lengths")
        rows = np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)
        np.save(folder / "vectors.npy", rows)
        np.save(folder / "positions.npy", np.concatenate([*positions, np.empty(0, np.int64)]))
        files.finish(folder, FORMAT, ["vectors.npy", "positions.npy"])
        return {"dimension": int(rows.shape[1]), **facts}

    def _alone(self, client: services.Client, texts: Texts) -> Iterator[tuple[Ints, Floats]]:
        for batch in texts.batches(TEXTS):
            yield batch.positions, _embedded(client, self._params, self._params.passage_prompt, batch.texts)

    def _grouped(
        self, client: services.Client, texts: Texts, facts: dict[str, JSON]
    ) -> Iterator[tuple[Ints, Floats]]:
        counts = dict.fromkeys(("documents", "documents_split", "groups", "passages_too_long"), 0)
        for groups in grouping.batches(texts, self._params, TEXTS, counts):
            vectors = grouping.embed(client, self._params, "document", [group.texts for group in groups])
            wanted = [rows[group.places] for rows, group in zip(vectors, groups, strict=True)]
            yield (
                np.concatenate([group.positions for group in groups]),
                _scaled(self._params, np.concatenate(wanted)),
            )
        facts.update(counts)

    def open(self, texts: Texts, folder: Path) -> Search:
        files.read_facts(folder, FORMAT)
        rows, positions = files.array(folder / "vectors.npy"), files.array(folder / "positions.npy")
        return Search(self._params, rows, positions, texts.unit)


class Search:
    def __init__(
        self, params: EmbeddingParams, rows: NDArray[np.float32], positions: Ints, unit: Unit
    ) -> None:
        self._params, self._rows, self._positions, self._unit = params, rows, positions, unit
        self._client = services.Client(params.service)

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        return self.search_vectors(self.encode(queries), k, within)

    def search_vectors(self, queries: Floats, k: int, within: Ints | None = None) -> Hits:
        if not len(self._rows):
            return Hits(
                np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32)
            )
        named = None if within is None else rows_of(within, self._positions)
        places, scores = exact.search(np.ascontiguousarray(queries, np.float32), self._rows, k, named)
        return hits_of(places, scores, k, self._positions, self._unit)

    def encode(self, queries: Sequence[str]) -> Floats:
        vectors = _embedded(self._client, self._params, self._params.query_prompt, queries, "query")
        if len(vectors) and len(self._rows) and vectors.shape[1] != self._rows.shape[1]:
            raise HarnessError(
                f"{self._params.service.url}: vectors of queries have {vectors.shape[1]} numbers, "
                f"those of the passages {self._rows.shape[1]}; check the model behind the address"
            )
        return vectors if len(vectors) else np.zeros((0, self._rows.shape[1]), np.float32)

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        return _embedded(self._client, self._params, self._params.passage_prompt, texts)

    def vectors(self, positions: Ints) -> Floats:
        rows = rows_of(positions, self._positions)
        vectors = self._rows[np.maximum(rows, 0)] if len(self._rows) else np.zeros((len(rows), 0))
        return np.where(rows[:, None] >= 0, vectors, 0).astype(np.float32)


def _embedded(
    client: services.Client,
    params: EmbeddingParams,
    prompt: str,
    texts: Sequence[str],
    kind: str = "document",
) -> Floats:
    """float32[n, d]: the vector of each text alone, of length 1 unless `similarity` is dot."""
    prompted = [grouping.sent(prompt, text) for text in texts]
    if params.documents is not None:
        rows = grouping.embed(client, params, kind, [[text] for text in prompted])
        return _scaled(params, np.concatenate(rows) if rows else np.zeros((0, 0), np.float32))
    return _scaled(params, services.embed(client, prompted, params.dimensions, batch=params.batch))


def _scaled(params: EmbeddingParams, rows: Floats) -> Floats:
    if params.similarity == "dot":
        return rows
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
