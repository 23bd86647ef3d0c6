"""Refuses a line of column names in files that must not have a header."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.toolkit.files.reading import refuse

IDS = {"id", "_id", "docid", "doc_id", "pid", "passage_id", "psg_id", "qid", "query_id", "query-id"}
TEXTS = {"text", "title", "contents", "passage", "query", "question", "answers"}


def refuse_header(path: Path, number: int, columns: Sequence[str]) -> None:
    """Refuse the first line of a file if it names columns, which would be read as a passage or a query."""
    names = [column.strip().strip('"').casefold() for column in columns]
    if names[0] in IDS and set(names[1:]) <= TEXTS:
        refuse(path, number, "this line names the columns, which are fixed here; remove it")
