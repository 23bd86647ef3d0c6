"""The source of a retrieval task of MTEB or BEIR."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from harness.plugin import ROWS, Card, Document, Inputs, Judgement, Part, Query
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.rows import documents_of
from harness.toolkit.files.tables import Column, parts, rows
from harness_mteb import MtebParams
from harness_mteb.layout import Readme, readme, tables
from harness_mteb.named import Named
from harness_mteb.places import AUTO, Folder, Hub, place

_TEXT = pa.string()
_PASSAGES = (
    Column("_id", _TEXT, also=("id",)),
    Column("title", _TEXT, required=False, prose=True),
    Column("text", _TEXT, prose=True),
)
_QUERIES = (Column("_id", _TEXT, also=("id",)), Column("text", _TEXT, also=("query",), prose=True))
_QRELS = (
    Column("query-id", _TEXT, also=("query_id", "qid")),
    Column("corpus-id", _TEXT, also=("corpus_id", "pid", "docid")),
    Column("score", pa.int32(), required=False),
)


class Mteb:
    """One split of a task of MTEB or BEIR. The split's queries are those that its judgements name, in the
    order of the queries' table. Every passage is a document of its own. The title is kept apart from the
    text, although the scores of MTEB and BEIR are for texts with titles."""

    def __init__(self, params: MtebParams, named: Named | None = None) -> None:
        self.params = params
        self._named = named
        self._task = place(params.path, params.revision)
        self._judged = self._task if params.qrels is None else place(params.qrels, AUTO)

    def card(self) -> Card:
        header, params = self._readme(self._task), self.params
        url = f"https://huggingface.co/datasets/{params.path}" if isinstance(params.path, str) else ""
        language = params.language or header.language
        card = Card(language, params.split, params.query_language, header.licence, "", url)
        named = self._named
        if named is None:
            return card
        return card._replace(citation=named.citation, notes=(named.note,), official=named.official)

    def inputs(self, part: Part) -> Inputs:
        """The parameters and files that determine a part. The queries depend on which queries are judged, but
        not on the grades. If the judged queries are not known while planning, the queries depend on the whole
        table of judgements."""
        where = self._judged if part == "judgements" else self._task
        keyed, files = where.keyed(self._tables(part))
        keyed = {**keyed, "split": self.params.split, "subset": self.params.subset}
        if part != "queries":
            return Inputs(keyed, files)
        keyed["exclude_self"] = self.params.exclude_self
        known, judged = self._judged.keyed(self._tables("judgements"))
        if self._judged_digest is not None:
            return Inputs({**keyed, "judged": self._judged_digest}, files)
        return Inputs({**keyed, "judged": known}, (*files, *judged))

    def fetch(self) -> Iterator[Path]:
        for where in (self._task, self._judged):
            if isinstance(where, Hub):
                where.fetched()
                yield where.path

    def rows(self) -> Iterator[pa.RecordBatch]:
        list(self.fetch())
        with self._task.opened(self._tables("corpus")) as files:
            for file in files:
                for part in parts(file, _PASSAGES):
                    ids, titles, texts = part.batch.columns
                    nulls = {name: pa.nulls(len(ids), ROWS.field(name).type) for name in ROWS.names}
                    columns = {**nulls, "id": ids, "title": titles, "text": texts}
                    yield pa.RecordBatch.from_arrays(list(columns.values()), schema=ROWS)

    def locate(self, row: int) -> str:
        with self._task.opened(self._tables("corpus")) as files:
            for file, name in zip(files, self._tables("corpus"), strict=True):
                for part in parts(file, _PASSAGES):
                    if row < len(part.lines):
                        return f"{self._task.path / name}:{part.lines[row]}"
                    row -= len(part.lines)
        raise IndexError(f"{self._task.path} has no row {row} more")

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        list(self.fetch())
        judged = self._first_judged()
        seen: dict[str, int] = {}
        with self._task.opened(self._tables("queries")) as files:
            for file in files:
                for line, row in rows(file, _QUERIES):
                    id = row["_id"]
                    if not id or id in seen:
                        what = (
                            f"is already at line {seen[id]}; keep one"
                            if id
                            else "is empty; give every query one"
                        )
                        refuse(file, line, f"the query id '{id}' {what}")
                    seen[id] = line
                    if id in judged:
                        yield Query(id, row["text"], exclude=(id,) if self.params.exclude_self else ())
            lacking = next((id for id in judged if id not in seen), None)
            if lacking is not None:
                what = f"query '{lacking}' is judged ({judged[lacking]}), but not in this table"
                refuse(files[0], 1, f"{what}; add it here or drop its judgements")

    def judgements(self) -> Iterator[Judgement]:
        list(self.fetch())
        seen: dict[tuple[str, str], int] = {}
        with self._judged.opened(self._tables("judgements")) as files:
            for file in files:
                for line, row in rows(file, _QRELS):
                    pair = row["query-id"], row["corpus-id"]
                    if not all(pair):
                        refuse(file, line, "an id is empty; give the query's and the passage's")
                    if pair in seen:
                        what = f"query '{pair[0]}' and passage '{pair[1]}' are already judged"
                        refuse(file, line, f"{what} at line {seen[pair]}; keep one")
                    seen[pair] = line
                    yield Judgement(*pair, 1 if row["score"] is None else row["score"])

    def locate_judgement(self, query: str, passage: str) -> str:
        names = self._tables("judgements")
        with self._judged.opened(names) as files:
            for file, name in zip(files, names, strict=True):
                for line, row in rows(file, _QRELS):
                    if (row["query-id"], row["corpus-id"]) == (query, passage):
                        return f"{self._judged.path / name}:{line}"
        raise LookupError(f"{self._judged.path} has no such judgement")

    def _first_judged(self) -> dict[str, str]:
        """The place of the first judgement of each query, by the query's id."""
        texts: dict[str, str] = {}
        with self._judged.opened(self._tables("judgements")) as files:
            for file in files:
                for line, row in rows(file, _QRELS):
                    texts.setdefault(row["query-id"], f"{file.name}:{line}")
        return texts

    @cached_property
    def _judged_digest(self) -> str | None:
        """The SHA-256 of the ids of the judged queries in local files. It is None while a file is missing,
        and for a dataset of the hub, of which only the commit is known."""
        files = self._judged.keyed(self._tables("judgements"))[1]
        if isinstance(self._judged, Hub) or not all(file.exists() for file in files):
            return None
        return hashlib.sha256("\n".join(sorted(self._first_judged())).encode()).hexdigest()

    def _tables(self, part: Part) -> tuple[str, ...]:
        where = self._judged if part == "judgements" else self._task
        return tables(where.names(), self._readme(where), part, self.params.split, self.params.subset)

    def _readme(self, where: Folder) -> Readme:
        return readme(where.readme())
