"""Judgements in files: reads the formats of trec_eval and BEIR, and writes TREC's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.collection.lines import check_words, lines_of
from harness.collection.queries import Judgements
from harness.errors import HarnessError
from harness.types import Judgement

TREC, BEIR = 4, 3  # columns: query 0 passage grade; query, passage and grade between tabs below a header
GRADE = re.compile(r"[+-]?[0-9]{1,9}")


def read_qrels(path: Path) -> Iterator[Judgement]:
    """All judgements of a file in order. Raises HarnessError with file and line for a line that is no
    judgement, and for a query and passage that are judged twice."""
    before: dict[tuple[str, str], int] = {}  # query and passage -> line
    columns = 0
    for number, line in lines_of(path):
        if not line.strip():
            continue
        if not columns:
            columns = BEIR if line.startswith("query-id") or line.count("\t") == BEIR - 1 else TREC
            if columns == BEIR:
                _check_header(path, number, line)
                continue
        judgement = _judgement(path, number, line, columns)
        first = before.setdefault((judgement.query, judgement.passage), number)
        if first != number:
            pair = f"query '{judgement.query}' and passage '{judgement.passage}'"
            what = f"{pair} are judged in line {first} already"
            raise HarnessError(f"{path}:{number}: {what}; keep one of the two")
        yield judgement
    if not before:
        raise HarnessError(f"{path}: holds no judgement; give a file with lines of `query 0 passage grade`")


def write_qrels(path: Path, judgements: Judgements) -> None:
    """Write the judgements in order, in TREC's four columns."""
    check_words(judgements.query_ids, "query id")
    check_words(judgements.passage_ids, "passage id")
    rows = zip(judgements.query.tolist(), judgements.passage.tolist(), judgements.grade.tolist(), strict=True)
    with path.open("w", encoding="utf-8") as out:
        for query, passage, grade in rows:
            out.write(f"{judgements.query_ids[query]} 0 {judgements.passage_ids[passage]} {grade}\n")


def _check_header(path: Path, number: int, line: str) -> None:
    if GRADE.fullmatch(line.split("\t")[-1].strip()):
        what = "three columns between tabs need a header"
        raise HarnessError(f"{path}:{number}: {what}; begin the file with: query-id, corpus-id, score")


def _judgement(path: Path, number: int, line: str, columns: int) -> Judgement:
    words = [word.strip() for word in line.split("\t")] if columns == BEIR else line.split()
    if len(words) != columns or not all(words):
        form = "query-id, corpus-id, score between tabs" if columns == BEIR else "query 0 passage grade"
        raise HarnessError(f"{path}:{number}: expected `{form}`, got {len(words)} columns; correct the line")
    if not GRADE.fullmatch(words[-1]):
        raise HarnessError(
            f"{path}:{number}: the grade must be a whole number, got '{words[-1]}'; correct the line"
        )
    return Judgement(words[0], words[-2], int(words[-1]))
