"""A collection's passages and documents as memory-mapped columns, addressed by position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.collection.corpus_rows import ROWS
from harness.collection.corpus_stream import DOCUMENTS, PASSAGES
from harness.collection.corpus_write import ARRAYS, write
from harness.collection.record_batches import Blocks
from harness.types import Document, Passage, Structure

__all__ = ["ROWS", "Corpus", "write"]


class Corpus:
    """A corpus in a folder, as `write` left it. Opening takes milliseconds whatever the size. Texts and ids
    become Python strings when asked for. A position is a passage's number from 0, likewise a document's."""

    passages: int
    documents: int
    document_of: NDArray[np.int32]  # int32[N]: the document of each passage
    first: NDArray[np.int64]  # int64[D + 1]: document d has the passages first[d] to first[d + 1] - 1
    candidate: NDArray[np.bool_]  # bool[N]
    id_rank: NDArray[np.int32]  # int32[N]: rank of each passage's id, ascending by UTF-8 bytes
    document_rank: NDArray[np.int32]  # int32[D]: rank of each document's id, likewise

    def __init__(self, folder: Path) -> None:
        self._passages = Blocks(folder, PASSAGES)
        self._documents = Blocks(folder, DOCUMENTS)
        self.passages = self._passages.rows
        self.documents = self._documents.rows
        for name in ARRAYS:
            setattr(self, name, np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))

    def ids(self, positions: NDArray[np.integer]) -> list[str]:
        return self._passages.strings("id", positions)

    def texts(self, positions: NDArray[np.integer]) -> list[str]:
        return self._passages.strings("text", positions)

    def text_columns(self) -> Iterator[pa.Array]:
        """All texts in order of position, in columns of about a thousand texts."""
        for batch in self._passages.between(0, self.passages):
            yield batch.column("text")

    def document_ids(self, documents: NDArray[np.integer]) -> list[str]:
        return self._documents.strings("id", documents)

    def titles(self, documents: NDArray[np.integer]) -> list[str]:
        return self._documents.strings("title", documents)

    def positions(self, ids: Sequence[str] | pa.Array) -> NDArray[np.int64]:
        """The positions of the passages with these ids (int64[n]), -1 for an id that the corpus lacks. Each
        call reads the ids of the whole corpus, so ask for many at a time."""
        return _find(self._passages.columns("id"), ids)

    def document_positions(self, ids: Sequence[str] | pa.Array) -> NDArray[np.int64]:
        """The numbers of the documents with these ids (int64[n]), -1 for an id that the corpus lacks."""
        return _find(self._documents.columns("id"), ids)

    def documents_in(self, start: int, stop: int) -> Iterator[Document]:
        """The documents `start` to `stop` - 1 with their passages, streamed."""
        sizes = np.diff(self.first[start : stop + 1]).tolist()
        passages = self._passages_in(int(self.first[start]), int(self.first[stop]))
        heads = self._documents.between(start, stop)
        named = ((id, title) for batch in heads for id, title in zip(*_lists(batch), strict=True))
        for (id, title), size in zip(named, sizes, strict=True):
            yield Document(id, title, tuple(islice(passages, size)))

    def structure(self) -> Structure:
        return Structure(self.document_of, self.first, self.candidate)

    def _passages_in(self, start: int, stop: int) -> Iterator[Passage]:
        for batch in self._passages.between(start, stop):
            candidates = self.candidate[start : start + batch.num_rows].tolist()
            yield from map(Passage, *_lists(batch), candidates)
            start += batch.num_rows


def _lists(batch: pa.RecordBatch) -> list[list[str]]:
    return [column.to_pylist() for column in batch.columns]


def _find(columns: Iterable[pa.ChunkedArray], ids: Sequence[str] | pa.Array) -> NDArray[np.int64]:
    # one hash table of the ids that are asked for, one pass over the column: this needs no index on disk
    wanted = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.string())
    wanted = wanted.cast(pa.string()).dictionary_encode()
    places = np.full(len(wanted.dictionary), -1, dtype=np.int64)
    start = 0
    for column in columns:
        which = pc.index_in(column, value_set=wanted.dictionary).fill_null(-1).to_numpy()  # int32[rows]
        rows = np.flatnonzero(which >= 0)
        places[which[rows]] = start + rows
        start += len(column)
    at: NDArray[np.int64] = places[wanted.indices.to_numpy()]
    return at
