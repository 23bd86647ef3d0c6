"""The rows of passages that a source yields: their schema, and functions on batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from harness.errors import ContractError, check_is, check_several, converting, each
from harness.types import Document

ROWS = pa.schema(  # what a ColumnarSource yields
    [
        ("id", pa.string()),
        ("document", pa.string()),  # null or "": the passage is a document of its own
        ("title", pa.string()),  # the document's title; null is ""
        ("text", pa.string()),
        ("candidate", pa.bool_()),  # null is true
        ("order", pa.int32()),  # place in the document; null or -1: passages keep the order of the rows
    ]
)
_BATCH_ROWS, _BATCH_CHARACTERS = 8192, 1 << 22
_GROUP_BYTES = 1 << 23


def rows_of(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Documents as batches of ROWS. Raises ContractError for a document without passages, because rows are
    passages and cannot hold one."""
    rows: list[tuple[str, str, str, str, bool, int]] = []
    characters = 0
    for document in each(documents, Document, "a dataset's documents"):
        id, title, passages = document
        check_is(id, str, "ids of documents")
        check_is(title, str, "titles of documents")
        check_several(passages, "the passages of a document")
        if not id or not passages:
            raise ContractError(f"document '{id}' needs an id and at least one passage")
        with converting(f"document '{id}'"):
            for place, (passage, text, candidate) in enumerate(passages):
                rows.append((passage, id, title, text, candidate, place))
                characters += len(text)
        if len(rows) >= _BATCH_ROWS or characters >= _BATCH_CHARACTERS:
            yield _batch(rows)
            rows, characters = [], 0
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[str, str, str, str, bool, int]]) -> pa.RecordBatch:
    arrays = []
    for column, field in zip(zip(*rows, strict=True), ROWS, strict=True):
        with converting(f"the passages from document '{rows[0][1]}' on: the column {field.name}"):
            arrays.append(pa.array(column, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not batch.schema.equals(ROWS):
            raise ContractError("rows() must yield batches of the schema harness.collection.corpus.ROWS")
        if batch.column("text").null_count:
            raise ContractError("rows() must yield no text that is null")
        yield batch


def groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The batches that are not empty, in lists large enough for work on whole columns to be fast."""
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            group.append(batch)
            size += batch.nbytes
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def joined(group: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The rows of a group in one batch, or in several batches if one would hold more than 2 GB of text."""
    return list(pa.Table.from_batches(group).combine_chunks().to_batches())
