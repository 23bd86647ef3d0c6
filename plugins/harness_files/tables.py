"""Reads passages, queries and judgements from CSV files with a header, and from Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from harness.plugin import ROWS
from harness.toolkit.files import tables
from harness.toolkit.files.paths import bare
from harness.toolkit.files.tables import Column

SUFFIXES = (".parquet", ".csv")
PASSAGES = (
    Column("_id", pa.string(), also=("id", "docid", "pid", "passage_id")),
    Column("doc_id", pa.string(), required=False),
    Column("title", pa.string(), required=False, prose=True),
    Column("text", pa.string(), also=("contents", "passage"), prose=True),
    Column("is_candidate", pa.bool_(), required=False),
    Column("paragraph_no", pa.int32(), required=False),
)  # in the order of ROWS
QUERIES = (
    Column("_id", pa.string(), also=("id", "qid", "query_id", "query-id")),
    Column("text", pa.string(), also=("query", "question"), prose=True),
    Column("answers", pa.list_(pa.string()), required=False, prose=True),
)
JUDGEMENTS = (
    Column("query-id", pa.string(), also=("query_id", "qid")),
    Column("corpus-id", pa.string(), also=("corpus_id", "docid", "pid", "passage_id")),
    Column("score", pa.int32(), also=("grade", "rel", "relevance")),
)


def is_table(path: Path) -> bool:
    return bare(path).suffix in SUFFIXES


def passages(path: Path) -> Iterator[pa.RecordBatch]:
    for part in tables.parts(path, PASSAGES):
        yield pa.RecordBatch.from_arrays(part.batch.columns, schema=ROWS)


def line_of(path: Path, row: int) -> int:
    """The line of `row`, where rows are counted from 0. In a Parquet file, it is the row's number from 1."""
    return next(islice((line for part in tables.parts(path, PASSAGES) for line in part.lines), row, None))


def queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    return tables.rows(path, QUERIES)


def judgements(path: Path) -> Iterator[tuple[int, str, str, int]]:
    for line, row in tables.rows(path, JUDGEMENTS):
        yield line, row["query-id"], row["corpus-id"], row["score"]
