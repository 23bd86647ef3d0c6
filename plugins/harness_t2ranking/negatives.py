"""The release's negatives for training: results of BM25 or a dual-encoder for each training query."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Literal, NamedTuple

from harness.toolkit.files.paths import first_there
from harness.toolkit.files.reading import refuse
from harness_t2ranking.tables import Row, table

HEADERS = {"bm25": ("qid", "pid", "index"), "mined": ("qid", "pid", "index", "score")}


class Found(NamedTuple):
    """The passages retrieved for one query, best first."""

    query: str
    passages: tuple[str, ...]
    scores: tuple[float, ...]  # empty for BM25


def negatives(path: Path, kind: Literal["bm25", "mined"]) -> Iterator[Found]:
    """Stream the 200 million rows of train.<kind>.tsv, in the release's folder or its data/. The rows of a
    query must be adjacent, as they are in the release."""
    name = f"train.{kind}.tsv"
    file = first_there([path / name, path / "data" / name])
    seen: dict[str, int] = {}
    rows = chain.from_iterable(table(file, HEADERS[kind]))
    for query, group in groupby(rows, key=lambda row: row.columns[0]):
        passages = list(group)
        line = passages[0].line
        if query in seen:
            refuse(file, line, f"query '{query}' is already at line {seen[query]}; keep its rows together")
        seen[query] = line
        ranked = sorted(passages, key=lambda row: _number(file, row, 2))
        scores = tuple(_number(file, row, 3) for row in ranked) if kind == "mined" else ()
        yield Found(query, tuple(row.columns[1] for row in ranked), scores)


def _number(path: Path, row: Row, column: int) -> float:
    try:
        return float(row.columns[column])
    except ValueError:
        shown = row.columns[column][:40]
        refuse(path, row.line, f"expected a number, got '{shown}'; mend the line")
