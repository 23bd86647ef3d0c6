"""Reads the hub's configurations: tables of passages, queries and judgements, and the table of NQ-hard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from harness.plugin import ROWS
from harness.toolkit.files.tables import Column, parts, rows
from harness_dapr.judged import Asked, Judged

_TEXT, _NUMBER = pa.string(), pa.int32()
_CORPUS = (  # in the order of harness.collection.corpus.ROWS
    Column("_id", _TEXT),
    Column("doc_id", _TEXT),
    Column("title", _TEXT, required=False),
    Column("text", _TEXT),
    Column("is_candidate", pa.bool_(), required=False),
    Column("paragraph_no", _NUMBER),
)
_QUERIES = (Column("_id", _TEXT), Column("text", _TEXT))
_QRELS = (Column("query_id", _TEXT), Column("corpus_id", _TEXT), Column("score", _NUMBER))
_HARD = (*_QRELS, Column("query", _TEXT), Column("categories", pa.list_(_TEXT), required=False))


class Hub:
    """The passages, queries and judgements of the hub's tables. `hard` says that queries and judgements come
    from the configuration nq-hard. Each row of nq-hard holds a judgement, its query, and the categories of
    the pair. The categories label the judgement and become the query's slices."""

    def __init__(
        self, corpus: tuple[Path, ...], questions: tuple[Path, ...], judged: tuple[Path, ...], hard: bool
    ) -> None:
        self.corpus, self.asked, self.judged = corpus, questions, judged
        self.hard = hard
        self.queries_apart = not hard

    def rows(self) -> Iterator[pa.RecordBatch]:
        for path in self.corpus:
            for part in parts(path, _CORPUS):
                yield pa.RecordBatch.from_arrays(part.batch.columns, schema=ROWS)

    def locate(self, row: int) -> str:
        for path in self.corpus:
            for part in parts(path, _CORPUS):
                if row < len(part.lines):
                    return f"{path}:{part.lines[row]}"
                row -= len(part.lines)
        raise IndexError(f"{self.corpus[-1]} has no row {row} more")

    def queries(self) -> Iterator[Asked]:
        for path in self.asked:
            for line, row in rows(path, _HARD if self.hard else _QUERIES):
                if self.hard:
                    slices = tuple(row["categories"] or ())
                    yield Asked(path, line, row["query_id"], row["query"], slices)
                else:
                    yield Asked(path, line, row["_id"], row["text"])

    def judgements(self) -> Iterator[Judged]:
        for path in self.judged:
            for line, row in rows(path, _HARD if self.hard else _QRELS):
                labels = tuple(row["categories"] or ()) if self.hard else ()
                yield Judged(path, line, row["query_id"], row["corpus_id"], row["score"], labels)
