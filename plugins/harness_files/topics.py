"""Reads the queries of a JSONL, TSV, DPR or TREC topics file, or of a table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import lines, refuse, text_of
from harness_files import tables
from harness_files.headers import refuse_header

_KINDS = {"_id": ("str",), "text": ("str",), "query_id": ("str",), "query": ("str",), "answers": ("list",)}
_KEYS = Keys(("_id", "text"), _KINDS)
_TEVATRON_KEYS = Keys(("query_id", "query"), _KINDS)
# Only the names of TREC's fields are tags. Anything else in angle brackets stays in the text.
_TAG = re.compile(r"<\s*(/?)\s*(top|num|title|desc|narr|dom|con|smry|def|fac)\s*>", re.I)
_LABELS = {"num": re.compile(r"\s*Number\s*:", re.I), "title": re.compile(r"\s*Topic\s*:", re.I)}


class _Query(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="_id")
    text: str
    answers: tuple[str, ...] = ()


class _Tevatron(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="query_id")
    text: str = msgspec.field(name="query")
    answers: tuple[str, ...] = ()


class Topic(NamedTuple):
    line: int
    id: str
    text: str
    answers: tuple[str, ...] = ()


def topics(path: Path, format: str) -> Iterator[Topic]:
    """All queries of the file, in order. An empty or duplicate id is refused."""
    read = {
        "jsonl": _json_topics, "tsv": _tsv_topics, "dpr": _dpr_topics, "trec": _trec_topics,
        "table": _table_topics,
    }[format]  # fmt: skip
    seen: dict[str, int] = {}
    for topic in read(path):
        if not topic.id:
            refuse(path, topic.line, "the query has an empty id; give every query one")
        if topic.id.split() != [topic.id]:
            what = f"the query id {topic.id!r} has white space in it, which no TREC run can hold"
            refuse(path, topic.line, f"{what}; rename it")
        if topic.id in seen:
            refuse(
                path, topic.line, f"the query id '{topic.id}' is already at line {seen[topic.id]}; keep one"
            )
        seen[topic.id] = topic.line
        yield topic


def _table_topics(path: Path) -> Iterator[Topic]:
    for line, row in tables.queries(path):
        yield Topic(line, row["_id"], row["text"], tuple(row["answers"] or ()))


def _json_topics(path: Path) -> Iterator[Topic]:
    first = next((line for _, line in lines(path)), b"")
    tevatron = b'"query_id"' in first and b'"_id"' not in first
    records: Records[Any] = (
        Records(path, (_Tevatron,), _TEVATRON_KEYS) if tevatron else Records(path, (_Query,), _KEYS)
    )
    for line, query in records.numbered():
        yield Topic(line, query.id, query.text, query.answers)


def _tsv_topics(path: Path) -> Iterator[Topic]:
    for place, (number, line) in enumerate(lines(path)):
        columns = text_of(path, number, line).split("\t")
        if place == 0:
            refuse_header(path, number, columns)
        if len(columns) not in (2, 3):
            what = f"expected id, text and perhaps answers between tabs, got {len(columns)} columns"
            refuse(path, number, f"{what}; correct the line")
        answers = () if len(columns) == 2 else _answers(path, number, columns[2], msgspec.json.decode)
        yield Topic(number, columns[0], columns[1], answers)


def _dpr_topics(path: Path) -> Iterator[Topic]:
    """The queries of DPR's `*.qa.csv`: a question, a tab, and its answers as a Python list. The file has no
    ids, so the id of a question is its place in the file, counted from 0, as in Pyserini."""
    for place, (number, line) in enumerate(lines(path)):
        columns = [unquoted(column) for column in text_of(path, number, line).split("\t")]
        if len(columns) != 2:
            what = f"expected a question, a tab and a list of answers, got {len(columns)} columns"
            refuse(path, number, f"{what}; correct the line")
        yield Topic(number, str(place), columns[0], _answers(path, number, columns[1], ast.literal_eval))


def unquoted(column: str) -> str:
    """The text of a column that Python's csv module has written: without the quotes around it, and with
    doubled quotes made single. A column without quotes around it is returned as it is."""
    quoted = len(column) > 1 and column[0] == column[-1] == '"'
    return column[1:-1].replace('""', '"') if quoted else column


def _answers(path: Path, number: int, column: str, decode: Callable[[str], Any]) -> tuple[str, ...]:
    def wrong() -> NoReturn:
        refuse(path, number, f'the answers are no list of texts: {column[:40]}; write them as ["..."]')

    try:
        answers = decode(column)
    except (ValueError, SyntaxError, RecursionError):  # msgspec's errors are ValueErrors
        wrong()
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        wrong()
    return tuple(answers)


def _trec_topics(path: Path) -> Iterator[Topic]:
    """The queries of TREC topics of the form `<top> <num> Number: 301 <title> words </top>`. Other fields are
    left out, as is usual."""
    start, field = 0, ""  # the line of the open <top>, and the tag whose text is being read
    fields: dict[str, str] = {}
    number = 1
    for number, line in lines(path):
        text = text_of(path, number, line)
        place = 0
        for tag in _TAG.finditer(text):
            fields[field] = fields.get(field, "") + text[place : tag.start()]
            place = tag.end()
            closing, name = tag.group(1), tag.group(2).lower()
            if name == "top":
                if bool(closing) != bool(start):
                    refuse(path, number, f"{tag.group()} stands without its other half; mend the topic")
                if closing:
                    yield _topic(path, start, fields)
                start, field, fields = 0 if closing else number, "", {}
            elif name not in fields or closing:
                field = "" if closing else name
            else:
                refuse(path, number, f"the topic has a second <{name}>; keep one")
        fields[field] = fields.get(field, "") + text[place:] + "\n"
        if not start and fields.get("", "").strip():
            refuse(path, number, "text outside of <top> ... </top>; mend the topics")
    if start:
        refuse(path, start, "this <top> has no </top>; the file may have been cut")


def _topic(path: Path, line: int, fields: dict[str, str]) -> Topic:
    for name, label in _LABELS.items():
        if name not in fields:
            refuse(path, line, f"the topic has no <{name}>; every topic needs <num> and <title>")
        fields[name] = " ".join(label.sub("", fields[name], count=1).split())
    return Topic(line, fields["num"], fields["title"])
