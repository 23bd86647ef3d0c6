"""Reads the hub's configurations: tables of passages, queries and judgements, and the table of NQ-hard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from harness.plugin import ROWS
from harness.toolkit.files.by_id import ById, of_tables
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.tables import Column, parts, rows
from harness_dapr.judged import Asked, Judged

_TEXT, _NUMBER = pa.string(), pa.int32()
_CORPUS = (  # in the order of harness.collection.corpus.ROWS
    Column("_id", _TEXT),
    Column("doc_id", _TEXT),
    Column("title", _TEXT, required=False, prose=True),
    Column("text", _TEXT, prose=True),
    Column("is_candidate", pa.bool_(), required=False),
    Column("paragraph_no", _NUMBER),
)
DOCUMENT, TITLE = 1, 2  # places in _CORPUS
# What the configuration `keyphrases` calls its two columns was not seen: the authors' own file has `doc_id`
# and `doc_summary`, and their code passes the keyphrases on as `title`.
_KEYPHRASES = (
    Column("doc_id", _TEXT, also=("_id", "id")),
    Column("keyphrases", _TEXT, also=("doc_summary", "title", "text"), prose=True),
)
_QUERIES = (Column("_id", _TEXT), Column("text", _TEXT, prose=True))
_QRELS = (Column("query_id", _TEXT), Column("corpus_id", _TEXT), Column("score", _NUMBER))
_HARD = (*_QRELS, Column("query", _TEXT, prose=True), Column("categories", pa.list_(_TEXT), required=False))


class Hub:
    """The passages, queries and judgements of the hub's tables. `hard` says that queries and judgements come
    from the configuration nq-hard. Each row of nq-hard holds a judgement, its query, and the categories of
    the pair. The categories label the judgement and become the query's slices. If there are files of
    keyphrases, the keyphrases of a document stand in place of its title."""

    def __init__(
        self,
        passages: tuple[Path, ...],
        questions: tuple[Path, ...],
        judged: tuple[Path, ...],
        phrases: tuple[Path, ...],
        hard: bool,
    ) -> None:
        self.corpus, self.asked, self.judged = (*passages, *phrases), questions, judged
        self._passages, self._phrases = passages, phrases
        self.hard = hard
        self.queries_apart = not hard

    def rows(self) -> Iterator[pa.RecordBatch]:
        of_documents = keyphrases(self._phrases) if self._phrases else None
        for path in self._passages:
            for part in parts(path, _CORPUS):
                columns = list(part.batch.columns)
                if of_documents is not None:
                    columns[TITLE] = _titles(self._phrases[0], of_documents, columns[DOCUMENT])
                yield pa.RecordBatch.from_arrays(columns, schema=ROWS)

    def locate(self, row: int) -> str:
        for path in self._passages:
            for part in parts(path, _CORPUS):
                if row < len(part.lines):
                    return f"{path}:{part.lines[row]}"
                row -= len(part.lines)
        raise IndexError(f"{self._passages[-1]} has no row {row} more")

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


def keyphrases(paths: Iterable[Path]) -> ById:
    """The keyphrases of each document, in the text of the authors: joined by "; "."""
    return ById(of_tables(paths, *_KEYPHRASES))


def _titles(path: Path, phrases: ById, documents: pa.Array) -> pa.Array:
    """The keyphrases of the document of each row."""
    encoded = documents.dictionary_encode()
    ids = encoded.dictionary.to_pylist()
    texts = phrases.texts_of(ids)
    if None in texts:
        missing = ids[texts.index(None)]
        refuse(
            path, 1, f"there are no keyphrases of the document '{missing}'; take all files from one release"
        )
    return pa.array(texts, _TEXT).take(encoded.indices)
