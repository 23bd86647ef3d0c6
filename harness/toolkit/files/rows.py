"""Makes batches of corpus rows from passages, for columnar sources, and documents from such batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa

from harness.collection.corpus import ROWS
from harness.types import Document, Passage


def batch(
    ids: Sequence[str],
    texts: Sequence[str],
    *,
    titles: Sequence[str | None] | None = None,
    documents: Sequence[str | None] | None = None,
    candidates: Sequence[bool | None] | None = None,
    places: Sequence[int | None] | None = None,
) -> pa.RecordBatch:
    """A record batch with the schema `harness.collection.corpus.ROWS`; a column that is not given is null."""
    columns = (ids, documents, titles, texts, candidates, places)
    arrays = [
        pa.nulls(len(ids), field.type) if column is None else pa.array(column, field.type)
        for column, field in zip(columns, ROWS, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def documents_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Document]:
    """Yields one document for each run of consecutive rows with the same document id. Rows of a document that
    do not follow one another yield several documents; only `harness.collection.corpus.write` joins them."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for id, group in groupby(rows, key=lambda row: row["document"] or row["id"]):
        members = list(group)
        passages = (Passage(row["id"], row["text"], row["candidate"] is not False) for row in members)
        yield Document(id, members[0]["title"] or "", tuple(passages))
