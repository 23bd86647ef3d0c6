"""Reads the released dump: documents from corpus.jsonl, queries with judgements from <split>.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.rows import batch
from harness_dapr.judged import Asked, Judged


class _Chunk(msgspec.Struct, gc=False):
    id: str
    text: str


class _Document(msgspec.Struct):
    id: str
    chunks: list[_Chunk]
    title: str | None = None
    candidates: list[str] | None = msgspec.field(name="candidate_chunk_ids", default=None)


class _Named(msgspec.Struct, gc=False):
    id: str


class _JudgedChunk(msgspec.Struct):
    chunk: _Named
    judgement: int


class _Labelled(msgspec.Struct):
    query: _Chunk  # an id and a text
    judged: list[_JudgedChunk] = msgspec.field(name="judged_chunks")


_DOCUMENT = Keys(
    ("id", "chunks"),
    {
        "id": ("str",),
        "chunks": ("list",),
        "title": ("str", "NoneType"),
        "candidate_chunk_ids": ("list", "NoneType"),
    },
)
_LABELLED = Keys(("query", "judged_chunks"), {"query": ("dict",), "judged_chunks": ("list",)})


class Dump:
    """The passages, queries and judgements of a dump. Documents without chunks have nothing to retrieve and
    are left out."""

    queries_apart = False

    def __init__(self, corpus: Path, labelled: Path) -> None:
        self.corpus = (corpus,)
        self.asked = self.judged = (labelled,)

    def rows(self) -> Iterator[pa.RecordBatch]:
        path = self.corpus[0]
        records: Records[Any] = Records(path, (_Document,), _DOCUMENT)
        for lines, record in records.with_lines():
            chunks = [(document, chunk) for document in record for chunk in document.chunks]
            if not chunks:
                continue
            yield batch(
                [chunk.id for _, chunk in chunks],
                [chunk.text for _, chunk in chunks],
                titles=[document.title for document, _ in chunks],
                documents=[document.id for document, _ in chunks],
                candidates=[
                    candidate
                    for line, document in zip(lines, record, strict=True)
                    for candidate in _candidates(path, line, document)
                ],
                places=[place for document in record for place in range(len(document.chunks))],
            )

    def locate(self, row: int) -> str:
        path = self.corpus[0]
        records: Records[Any] = Records(path, (_Document,), _DOCUMENT)
        for line, document in records.numbered():
            if row < len(document.chunks):
                return f"{path}:{line}"
            row -= len(document.chunks)
        raise IndexError(f"{path} has no row {row} more")

    def queries(self) -> Iterator[Asked]:
        for line, question in self._labelled():
            yield Asked(self.asked[0], line, question.query.id, question.query.text)

    def judgements(self) -> Iterator[Judged]:
        for line, question in self._labelled():
            for row in question.judged:
                yield Judged(self.judged[0], line, question.query.id, row.chunk.id, row.judgement)

    def _labelled(self) -> Iterator[tuple[int, Any]]:
        records: Records[Any] = Records(self.asked[0], (_Labelled,), _LABELLED)
        return records.numbered()


def _candidates(path: Path, line: int, document: _Document) -> list[bool]:
    """Whether each chunk of the document is a candidate. All are if the document has no list of
    candidates."""
    if not document.id:
        refuse(path, line, "the document has an empty id; give every document one")
    if document.candidates is None:
        return [True] * len(document.chunks)
    named = set(document.candidates)
    unknown = sorted(named - {chunk.id for chunk in document.chunks})
    if unknown:
        what = f"candidate_chunk_ids names '{unknown[0]}', which is no chunk of document '{document.id}'"
        refuse(path, line, f"{what}; correct the line")
    return [chunk.id in named for chunk in document.chunks]
