"""Reads questions and their positive paragraphs (dev.json, ...), and the maps q2qid.*.json."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import pieces, refuse


class _Paragraph(msgspec.Struct, gc=False):
    id: str = msgspec.field(name="paragraph_id")


class _Question(msgspec.Struct):
    id: str = msgspec.field(name="question_id")
    text: str = msgspec.field(name="question")
    answers: list[_Paragraph] | None = msgspec.field(name="answer_paragraphs", default=None)


_KEYS = Keys(
    ("question_id", "question"),
    {"question_id": ("str",), "question": ("str",), "answer_paragraphs": ("list", "NoneType")},
)


class Question(NamedTuple):
    line: int
    id: str
    text: str
    positives: tuple[str, ...] | None  # passage ids in order, each once; None if they were not published


def questions(path: Path) -> Iterator[Question]:
    """All questions of the file, in order. A duplicate id is refused."""
    records: Records[Any] = Records(path, (_Question,), _KEYS)
    seen: dict[str, int] = {}
    for line, record in records.numbered():
        if not record.id:
            refuse(path, line, "'question_id' is empty; give every question one")
        if record.id in seen:
            refuse(path, line, f"question '{record.id}' is already at line {seen[record.id]}; keep one")
        seen[record.id] = line
        positives = None
        if record.answers is not None:
            positives = tuple(dict.fromkeys(paragraph.id for paragraph in record.answers))
            if "" in positives:
                refuse(path, line, "a 'paragraph_id' is empty; name the passage or leave it out")
        yield Question(line, record.id, record.text, positives)


def mapped(path: Path) -> Iterator[Question]:
    """The questions of q2qid.<split>.json, {"question": "question id", ...}, without positives."""
    try:
        ids = msgspec.json.decode(b"".join(pieces(path)), type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        refuse(path, 1, f'expected an object {{"question": "question id", ...}} ({error}); copy it again')
    seen: set[str] = set()
    for text, id in ids.items():
        if id in seen or not id:
            refuse(path, 1, f"the question id '{id}' is empty or there twice; give every question its own")
        seen.add(id)
        yield Question(1, id, text, None)


def digest(questions: Iterable[Question]) -> str:
    """The SHA-256 of the questions' ids and texts. The queries are keyed by it, so that a changed judgement
    does not change their key."""
    hashed = hashlib.sha256()
    for question in questions:
        hashed.update(msgspec.json.encode((question.id, question.text)))
    return hashed.hexdigest()
