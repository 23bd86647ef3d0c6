"""The query or judgement of one row of a file, and functions that merge the rows of a query or pair."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.plugin import Judgement, Query
from harness.toolkit.files.reading import refuse


class Asked(NamedTuple):
    path: Path
    line: int
    id: str
    text: str
    slices: tuple[str, ...] = ()


class Judged(NamedTuple):
    path: Path
    line: int
    query: str
    passage: str
    grade: int
    labels: tuple[str, ...] = ()


def merged(questions: Iterable[Asked]) -> list[Query]:
    """The queries of all rows in the order of their first occurrence, each once, with the slices of all its
    rows. A row of the dump or of NQ-hard has one or a few judgements, so a query may have several rows."""
    first: dict[str, Asked] = {}
    slices: dict[str, dict[str, None]] = {}  # query -> its slices, as an ordered set
    for question in questions:
        if not question.id:
            refuse(question.path, question.line, "the query has an empty id; give every query one")
        before = first.setdefault(question.id, question)
        if before.text != question.text:
            where = f"{before.path}:{before.line}"
            refuse(
                question.path,
                question.line,
                f"query '{question.id}' has another text than at {where}; keep one",
            )
        slices.setdefault(question.id, {}).update(dict.fromkeys(question.slices))
    return [Query(id, question.text, tuple(slices[id])) for id, question in first.items()]


def highest(labels: Iterable[Judged], queries: Iterable[Query]) -> list[Judgement]:
    """The judgements of all rows in the order of their first occurrence. A pair of a query and a passage is
    returned once, with its highest grade, as in the released loader, and with the labels of all its rows."""
    query_ids = {query.id for query in queries}
    grades: dict[tuple[str, str], int] = {}
    of_pairs: dict[tuple[str, str], dict[str, None]] = {}  # pair -> its labels, as an ordered set
    for judged in labels:
        if judged.query not in query_ids:
            what = f"query '{judged.query}' is judged, but the split's queries do not have it"
            refuse(judged.path, judged.line, f"{what}; take both from one release")
        if not judged.passage:
            refuse(judged.path, judged.line, "the id of the judged passage is empty; name the passage")
        pair = judged.query, judged.passage
        grades[pair] = max(judged.grade, grades.get(pair, judged.grade))
        of_pairs.setdefault(pair, {}).update(dict.fromkeys(judged.labels))
    return [Judgement(*pair, grade, tuple(of_pairs[pair])) for pair, grade in grades.items()]


def digest(queries: Iterable[Query]) -> str:
    """The SHA-256 of the queries' content, which does not change when a judgement changes."""
    hashed = hashlib.sha256()
    for query in queries:
        hashed.update(msgspec.json.encode((query.id, query.text, query.slices)))
    return hashed.hexdigest()
