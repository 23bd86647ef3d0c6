"""Queries of a JSONL, TSV or TREC topics file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import lines, refuse, text_of

_KEYS = Keys(("_id", "text"), {"_id": ("str",), "text": ("str",)})
# only the fields of TREC are tags: any other stays in the text
_TAG = re.compile(r"<\s*(/?)\s*(top|num|title|desc|narr|dom|con|smry|def|fac)\s*>", re.I)
_LABELS = {"num": re.compile(r"\s*Number\s*:", re.I), "title": re.compile(r"\s*Topic\s*:", re.I)}


class _Query(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="_id")
    text: str


class Topic(NamedTuple):
    line: int
    id: str
    text: str


def topics(path: Path, format: str) -> Iterator[Topic]:
    """All queries in order; none has an empty id, no two have the same."""
    read = {"jsonl": _json_topics, "tsv": _tsv_topics, "trec": _trec_topics}[format]
    seen: dict[str, int] = {}
    for topic in read(path):
        if not topic.id:
            refuse(path, topic.line, "the query has an empty id; give every query one")
        if topic.id in seen:
            refuse(
                path, topic.line, f"the query id '{topic.id}' is already at line {seen[topic.id]}; keep one"
            )
        seen[topic.id] = topic.line
        yield topic


def _json_topics(path: Path) -> Iterator[Topic]:
    records: Records[Any] = Records(path, (_Query,), _KEYS)
    for line, query in records.numbered():
        yield Topic(line, query.id, query.text)


def _tsv_topics(path: Path) -> Iterator[Topic]:
    for number, line in lines(path):
        columns = text_of(path, number, line).split("\t")
        if len(columns) != 2:
            refuse(
                path,
                number,
                f"expected 2 columns between a tab (id, text), got {len(columns)}; mend the line",
            )
        yield Topic(number, *columns)


def _trec_topics(path: Path) -> Iterator[Topic]:
    """`<top> <num> Number: 301 <title> words </top>`: other fields are left out, as is usual."""
    start, field = 0, ""  # line of the <top> that is open; the tag that text belongs to
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
