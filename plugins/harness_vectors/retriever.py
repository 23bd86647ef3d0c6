"""The retriever `vectors` puts given vectors in the order of a corpus, and searches them exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.plugin import JSON, Floats, HarnessError, Hits, Ints, Texts, Unit
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import bare
from harness.toolkit.files.reading import lines, refuse, text_of
from harness.toolkit.index.positions import rows_of
from harness.toolkit.neural.encoding import vectors
from harness.toolkit.neural.encoding.parts import Shard
from harness.toolkit.search import exact
from harness_vectors import VectorsParams, embedding_files
from harness_vectors.embedding_files import Embeddings

SHARD = 1 << 16  # vectors copied at once


class _Query(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="_id")
    text: str


class Vectors:
    def __init__(self, params: VectorsParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        """Write the vectors of the texts, found by id, in the texts' order. Returns facts to report."""
        params = self._params
        embeddings = embedding_files.read(params.passages, params.passage_ids)
        positions, places = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        count = 0
        for batch in texts.batches(SHARD):
            rows = embeddings.ids.rows(texts.ids(batch.positions))
            known = rows >= 0
            if params.missing == "refuse" and not known.all():
                id = texts.ids(batch.positions[~known][:1])[0]
                what = f"has no vector for the {texts.unit} '{id}'"
                raise HarnessError(f"{params.passages}: {what}; encode all, or say missing: skip")
            after = count + int(np.count_nonzero(known))
            positions[count:after], places[count:after] = batch.positions[known], rows[known]
            count = after
        positions, places = positions[:count], places[:count]
        usual = "fp16" if embeddings.rows.dtype == np.float16 else "fp32"
        kind = usual if params.stored == "auto" else params.stored
        dimension = embeddings.rows.shape[1]
        write = vectors.writer(folder, count, dimension, kind)
        for number, first in enumerate(range(0, count, SHARD)):
            chosen = places[first : first + SHARD]
            compared = list(_compared(embeddings.rows[chosen], params.similarity))
            write(Shard(number, first, positions[first : first + SHARD], compared))
        facts = {
            "dimension": dimension,
            **vectors.facts(folder, kind),
            "vectors_of_the_file": len(embeddings.ids),
        }
        return {**facts, "texts_without_a_vector": len(texts) - count}

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(self._params, vectors.read(folder), texts.unit)


class Search:
    """An open index. A query's vector is looked up by the query's text, as a retriever gets only texts."""

    def __init__(self, params: VectorsParams, index: vectors.Vectors, unit: Unit) -> None:
        self._params, self._index, self._unit = params, index, unit
        assert params.queries is not None  # `resolve` has checked it
        embeddings = embedding_files.read(params.queries, params.query_ids, texts=True)
        width, dimension = index.rows.shape[1], embeddings.rows.shape[1]
        if width != dimension:
            what = f"its vectors have {dimension} numbers and those of the passages {width}"
            raise HarnessError(f"{params.queries}: {what}; give vectors of one model")
        self._rows = embeddings.rows
        self._row_of = _rows_by_text(embeddings, params)

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        places = np.array([self._row_of.get(text, -1) for text in queries], np.int64)
        if self._params.missing == "refuse" and (places < 0).any():
            text = queries[int(np.argmin(places))]
            what = f"there is no vector for the query '{text[:60]}'"
            raise HarnessError(f"{self._params.queries}: {what}; encode it, or say missing: skip")
        known = np.flatnonzero(places >= 0)
        passages = np.full((len(queries), k), -1, np.int64)
        scores = np.full((len(queries), k), -np.inf, np.float32)
        rows = _compared(self._rows[places[known]], self._params.similarity)
        inside = None if within is None else rows_of(within[known], self._index.positions)
        positions, values = exact.search(rows, self._index.rows, k, inside)
        filled = positions >= 0
        nearest = np.full(positions.shape, -1, np.int64)
        nearest[filled] = self._index.positions[positions[filled]]
        passages[known, : positions.shape[1]] = nearest
        scores[known, : positions.shape[1]] = values
        return Hits(passages, scores, self._unit)


def _rows_by_text(embeddings: Embeddings, params: VectorsParams) -> dict[str, int]:
    """The row of the vector of each query, by the query's text. Raises HarnessError if a text has two."""
    if params.query_texts is None:
        if embeddings.texts is None:
            raise HarnessError(f"{params.queries}: a line has no contents; give the texts as query_texts")
        texts = list(zip(embeddings.texts, range(len(embeddings.ids)), strict=True))
    else:
        by_id = _texts(params.query_texts)
        places = embeddings.ids.rows([id for id, _ in by_id]).tolist()
        texts = [(text, row) for (_, text), row in zip(by_id, places, strict=True) if row >= 0]
    rows: dict[str, int] = {}
    for text, row in texts:
        first = rows.setdefault(text, row)
        if not np.array_equal(embeddings.rows[first], embeddings.rows[row]):
            ids = f"'{embeddings.ids.at(first)}' and '{embeddings.ids.at(row)}'"
            raise HarnessError(f"{params.queries}: {ids} are one text with two vectors; keep one of them")
    return rows


def _texts(path: Path) -> list[tuple[str, str]]:
    """The id and text of each query in the file."""
    if bare(path).suffix == ".jsonl":
        keys = Keys(("_id", "text"), {"_id": ("str",), "text": ("str",)})
        records: Records[_Query] = Records(path, (_Query,), keys)
        return [(query.id, query.text) for _, query in records.numbered()]
    pairs = []
    for number, line in lines(path):
        columns = text_of(path, number, line).split("\t")
        if len(columns) != 2:
            refuse(path, number, f"expected id, tab, text, got {len(columns)} columns; correct the line")
        pairs.append((columns[0], columns[1]))
    return pairs


def _compared(rows: NDArray[Any], similarity: str) -> Floats:
    """float32[n, d]: the rows as they are compared, scaled to length 1 if `similarity` is cosine."""
    vectors = np.asarray(rows, np.float32)
    if similarity == "dot":
        return vectors
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
