"""The maker `pool`: writes the pairs worth judging, in the form of docs/pools.md. Changes no collection."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from harness.plugin import Made, MakerInput
from harness_pooling import PoolParams, pairs
from harness_pooling.pairs import Pairs

FORM = "harness pool 1"
FILES = ("queries.jsonl", "documents.jsonl", "pairs.jsonl")
BLOCK = 65536  # pairs whose ids are looked up at once


class Pool:
    def __init__(self, params: PoolParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        params = self._params
        pooled, grades = pooled_pairs(data, params)
        write_pool(data, pooled, grades, params.of, params.depth, params.scored_by)
        return Made()


def write_pool(
    data: MakerInput, pooled: Pairs, grades: Sequence[int | None], systems: Sequence[str], depth: int,
    scored_by: str | None,
) -> None:  # fmt: skip
    """Write the four files of a pool into the folder that the stage keeps. `pooled` has the ranks that
    `systems` gave the pairs."""
    folder = data.folder / "kept"
    folder.mkdir()
    documents = np.unique(data.corpus.document_of[pooled.passage]).tolist()
    query_rows = np.unique(pooled.query).tolist()
    counts = {
        "queries": _lines(folder / FILES[0], _queries(data, query_rows)),
        "documents": _lines(folder / FILES[1], _documents(data, documents)),
        "pairs": _lines(folder / FILES[2], _pairs(data, pooled, grades, systems)),
        "judged": sum(grade is not None for grade in grades),
    }
    digest = hashlib.sha256()
    for name in FILES:
        with (folder / name).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    header = {
        "form": FORM, "name": data.dataset, "split": data.split, "language": data.language,
        "query_language": data.query_language, "licence": data.licence, "citation": data.citation,
        "url": data.url, "systems": list(systems), "depth": depth, "scored_by": scored_by,
        "counts": counts, "digest": digest.hexdigest(),
    }  # fmt: skip
    (folder / "pool.json").write_bytes(orjson.dumps(header, option=orjson.OPT_INDENT_2) + b"\n")
    for name, count in counts.items():
        data.tally.note(f"pooled {name}", count)


def _pairs(
    data: MakerInput, pooled: Pairs, grades: Sequence[int | None], systems: Sequence[str]
) -> Iterator[Any]:
    places = pooled.places
    for low in range(0, len(pooled.query), BLOCK):
        rows = slice(low, low + BLOCK)
        passages = pooled.passage[rows]
        ids = data.corpus.ids(passages)
        documents = data.corpus.document_ids(data.corpus.document_of[passages])
        for at, (query, passage, document, ranks) in enumerate(
            zip(pooled.query[rows].tolist(), ids, documents, pooled.ranks[rows].tolist(), strict=True), low
        ):
            line = {
                "query": data.queries.ids[query], "passage": passage, "document": document,
                "rank": int(places[at]),
            }  # fmt: skip
            if pooled.score is not None:
                line["score"] = float(pooled.score[at])
            line["ranks"] = {name: rank for name, rank in zip(systems, ranks, strict=True) if rank}
            grade = grades[at]
            yield line if grade is None else {**line, "grade": grade}
        data.progress(min(low + BLOCK, len(pooled.query)), len(pooled.query))


def pooled_pairs(data: MakerInput, params: PoolParams) -> tuple[Pairs, list[int | None]]:
    """The pairs of the pool, and the grade that the collection has for each; None for an unjudged pair."""
    size = data.corpus.passages
    pooled = pairs.union([data.runs[name] for name in params.of], params.depth)
    data.tally.note("pairs proposed", len(pooled.query))
    if params.scored_by is not None:
        pooled, lacking = pairs.rescored(pooled, data.runs[params.scored_by], size)
        data.tally.drop("pairs", f"not in the run of {params.scored_by}", count=lacking)
    if params.top is not None:
        before, pooled = len(pooled.query), pairs.first(pooled, params.top)
        data.tally.drop("pairs", f"beyond the first {params.top}", count=before - len(pooled.query))
    grades = grades_of(data, pooled)
    if params.judged == "leave-out":
        open_ = np.array([grade is None for grade in grades], np.bool_)
        data.tally.drop("pairs", "judged already", count=int((~open_).sum()))
        pooled, grades = pooled.chosen(open_), [None] * int(open_.sum())
    return pooled, grades


def grades_of(data: MakerInput, pooled: Pairs) -> list[int | None]:
    """The grade that the collection has for each pair; None for an unjudged pair."""
    number = {name: row for row, name in enumerate(data.queries.ids)}
    judged = data.judgements
    at = data.corpus.positions(judged.passage_ids)
    known: dict[tuple[int, int], int] = {}
    for query, passage, grade in zip(judged.query, judged.passage, judged.grade, strict=True):
        known[number.get(judged.query_ids[query], -1), int(at[passage])] = int(grade)
    pairs_ = zip(pooled.query.tolist(), pooled.passage.tolist(), strict=True)
    return [known.get(pair) for pair in pairs_]


def _queries(data: MakerInput, query_rows: list[int]) -> Iterator[Any]:
    rows = data.queries
    for row in query_rows:
        line = {"id": rows.ids[row], "text": rows.texts[row]}
        yield {**line, "answers": rows.answers[row]} if rows.answers[row] else line


def _documents(data: MakerInput, documents: list[int]) -> Iterator[Any]:
    for number in documents:
        [document] = data.corpus.documents_in(number, number + 1)
        passages = [
            {"id": passage.id, "text": passage.text, **({} if passage.candidate else {"candidate": False})}
            for passage in document.passages
        ]
        yield {"id": document.id, "title": document.title, "passages": passages}


def _lines(path: Path, rows: Iterator[Any]) -> int:
    count = 0
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
            count += 1
    return count
