"""The source of T2Ranking."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from harness.plugin import Card, Document, Inputs, Judgement, Official, Part, Query
from harness.toolkit.files.download import fetch
from harness.toolkit.files.paths import first_there
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.rows import batch, documents_of
from harness.toolkit.files.slices import sliced
from harness_t2ranking import T2RankingParams
from harness_t2ranking.tables import GRADES, PASSAGES, POSITIVES, QUERIES, Row, table

CITATION = "Xie et al., T2Ranking: A Large-scale Chinese Benchmark for Passage Ranking, SIGIR 2023"
URL = "https://huggingface.co/datasets/THUIR/T2Ranking"
CHOSEN = (
    "which pairs of the training set were judged was chosen by a model, by active learning, and near "
    "duplicates were left out (sections 4.3 and 4.4)"
)
_PASSAGES = {"passages": 2_303_643, "passage_characters.mean": 632.6}
OFFICIAL = {  # by split, for the judgements in grades
    "train": (
        Official(
            "Xie et al. 2023, table 3 and section 5",
            {
                **_PASSAGES,
                "queries": 258_042,
                "query_characters.max": 40,
                "query_characters.mean": 11.1,
                "judgements_per_query.mean": 6.25,
            },
        ),
        Official("the README of the release", {"judgements": 1_613_421}),
    ),
    "test": (
        Official(
            "Xie et al. 2023, table 3 and section 5",
            {
                **_PASSAGES,
                "queries": 49_662,
                "query_characters.max": 38,
                "query_characters.mean": 10.99,
                "judgements_per_query.mean": 15.75,
            },
        ),
    ),
    "dev": (
        Official("Xie et al. 2023, section 5", _PASSAGES),
        Official("the README of the release", {"queries": 24_831, "judgements": 400_536}),
    ),
}
_GRADE = re.compile(r"[0-3]")


class T2Ranking:
    """One split of T2Ranking. Every passage is a document of its own, without a title. All queries of the
    split are read, although some have no positive and a few have no judgement at all."""

    def __init__(self, params: T2RankingParams) -> None:
        self.params = params
        graded = params.judgements == "graded"
        folders = [params.path, params.path / "data"]  # the hub has the tables in `data`
        names = (
            "collection.tsv",
            f"queries.{params.split}.tsv",
            f"qrels.{'' if graded else 'retrieval.'}{params.split}.tsv",
        )
        self._collection, self._queries, self._qrels = (
            first_there([folder / name for folder in folders]) for name in names
        )

    def card(self) -> Card:
        official = OFFICIAL.get(self.params.split, ()) if self.params.judgements == "graded" else ()
        notes = (CHOSEN,) if self.params.split == "train" else ()
        return Card("zh", self.params.split, None, "Apache-2.0", CITATION, URL, notes, official)

    def inputs(self, part: Part) -> Inputs:
        if part == "corpus":
            return Inputs({}, (self._collection,))
        if part == "judgements":  # a judgement of a query that the split lacks is refused
            return Inputs({"form": self.params.judgements}, (self._qrels, self._queries))
        return Inputs({}, (self._queries, *((self.params.slices,) if self.params.slices else ())))

    def fetch(self) -> Iterator[Path]:
        """Download the missing files from the hub, which states the digest of each file, and yield their
        paths. The hub has no judgements of the test split. HF_ENDPOINT names another hub, as for the
        hub's own client."""
        hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
        for file in (self._collection, self._queries, self._qrels):
            if not file.exists():
                fetch(f"{hub.rstrip('/')}/datasets/THUIR/T2Ranking/resolve/main/data/{file.name}", file)
                yield file

    def rows(self) -> Iterator[pa.RecordBatch]:
        any_row = False
        for rows in table(self._collection, PASSAGES):
            any_row = True
            yield batch([row.columns[0] for row in rows], [row.columns[1] for row in rows])
        if not any_row:
            refuse(self._collection, 1, "there is no passage below the header; copy the file again")

    def locate(self, row: int) -> str:
        for rows in table(self._collection, PASSAGES):
            if row < len(rows):
                return f"{self._collection}:{rows[row].line}"
            row -= len(rows)
        raise IndexError(f"{self._collection} has no row {row} more")

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        return sliced(self._all_queries(), self.params.slices)

    def _all_queries(self) -> Iterator[Query]:
        seen: dict[str, int] = {}
        for rows in table(self._queries, QUERIES):
            for line, (id, text) in rows:
                if id in seen:
                    refuse(self._queries, line, f"query '{id}' is already at line {seen[id]}; keep one")
                seen[id] = line
                yield Query(id, text)

    def judgements(self) -> Iterator[Judgement]:
        """All judgements in order, with the grades 0 to 3, or the grade 1 for each positive. A judged passage
        that the collection lacks is kept. A judged query that the split lacks is refused."""
        query_ids = {query.id for query in self._all_queries()}
        seen: dict[str, dict[str, int]] = {}  # query -> passage -> line
        for row, judgement in self._judged():
            if judgement.query not in query_ids:
                what = f"query '{judgement.query}' is judged, but {self._queries} does not have it"
                refuse(self._qrels, row.line, f"{what}; take both from one release")
            before = seen.setdefault(judgement.query, {}).setdefault(judgement.passage, row.line)
            if before != row.line:
                pair = f"query '{judgement.query}' and passage '{judgement.passage}'"
                refuse(self._qrels, row.line, f"{pair} are already judged at line {before}; keep one")
            yield judgement
        if not seen:
            refuse(self._qrels, 1, "there is no judgement below the header; copy the file again")

    def locate_judgement(self, query: str, passage: str) -> str:
        lines = (row.line for row, judged in self._judged() if judged[:2] == (query, passage))
        return f"{self._qrels}:{next(lines)}"

    def _judged(self) -> Iterator[tuple[Row, Judgement]]:
        graded = self.params.judgements == "graded"
        for rows in table(self._qrels, GRADES if graded else POSITIVES):
            for row in rows:
                query, passage = row.columns[0], row.columns[2 if graded else 1]
                grade = row.columns[3] if graded else "1"
                if not passage:
                    refuse(self._qrels, row.line, "'pid' is empty; name the passage")
                if not _GRADE.fullmatch(grade):
                    refuse(
                        self._qrels, row.line, f"expected a grade from 0 to 3, got '{grade[:40]}'; mend it"
                    )
                yield row, Judgement(query, passage, int(grade))
