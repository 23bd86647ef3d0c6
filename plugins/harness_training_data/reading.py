"""Reads training data in the forms of other trainers: queries with their positives and negatives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import orjson

from harness.plugin import HarnessError
from harness.toolkit.commands import lines_of

NUMBER = re.compile(r"[0-9]+")
NEGATIVE = re.compile(r"negative(_[0-9]+)?")


class Text(NamedTuple):
    """A query or passage. `text` is empty if the file has only ids; `id` is empty if the file has no ids."""

    text: str
    title: str = ""
    id: str = ""


class Example(NamedTuple):
    query: Text
    positives: tuple[Text, ...]
    negatives: tuple[Text, ...]


Numbered: TypeAlias = Iterator[tuple[int, str]]
Reader: TypeAlias = Callable[[Path, Numbered], Iterator[Example]]


def read(path: Path, form: str | None = None) -> Iterator[Example]:
    """The examples of a file, plain or .gz, streamed in file order. Consecutive lines of one query are one
    example. Without `form`, the first line shows the form. Raises HarnessError, with file and line, for a
    damaged file, a file in no known form, and any pickle."""
    if form is not None and form not in FORMS:
        raise HarnessError(f"form '{form}': is none of training data; known are: {', '.join(FORMS)}")
    numbered = ((number, line.rstrip("\r\n")) for number, line in lines_of(path) if line.strip())
    first = _first(path)
    return FORMS[form or _form_of(path, first)](path, numbered)


def _first(path: Path) -> str:
    with _opened(path) as file:
        if file.read(1) == b"\x80":
            problem = "is a pickle, which can run any code and is never loaded"
            raise HarnessError(f"{path}: {problem}; write the examples as JSON lines")
    first = next((line for _, line in lines_of(path) if line.strip()), None)
    if first is None:
        raise HarnessError(f"{path}: is empty; give one of the forms: {', '.join(FORMS)}")
    return first.rstrip("\r\n")


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        problem = (error.strerror or str(error)).lower()
        raise HarnessError(f"{path}: {problem}; check the path") from None


def _form_of(path: Path, first: str) -> str:
    if first.startswith("["):
        return "sentence-transformers"
    if first.startswith("{"):
        return "tevatron" if "positive_passages" in _object(path, 1, first) else "sentence-transformers"
    columns = first.split("\t")
    if len(columns) == 3:
        return "msmarco-ids" if all(map(NUMBER.fullmatch, columns)) else "msmarco"
    if len(columns) == 4:
        return "rocketqa"
    if len(columns) == 6:
        return "rocketqa-pairs"
    problem = f"{len(columns)} columns between tabs are no form of training data"
    raise HarnessError(f"{path}:1: {problem}; known are: {', '.join(FORMS)}")


def _tevatron(path: Path, numbered: Numbered) -> Iterator[Example]:
    for number, line in numbered:
        row = _object(path, number, line)
        query = Text(_string(path, number, row, "query"), id=_string(path, number, row, "query_id"))
        positives, negatives = (_passages(path, number, row, key) for key in PASSAGES)
        yield Example(query, positives, negatives)


PASSAGES = ("positive_passages", "negative_passages")


def _passages(path: Path, number: int, row: dict[str, Any], key: str) -> tuple[Text, ...]:
    passages = row.get(key)
    if not isinstance(passages, list) or not all(isinstance(passage, dict) for passage in passages):
        _refuse(path, number, f"'{key}' must be a list of objects")
    return tuple(
        Text(
            _string(path, number, passage, "text"),
            _string(path, number, passage, "title") if "title" in passage else "",
            _string(path, number, passage, "docid"),
        )
        for passage in passages
    )


def _sentence_transformers(path: Path, numbered: Numbered) -> Iterator[Example]:
    """Reads lines of one of three kinds: a list of an anchor, a positive and any number of negatives; an
    object of anchor, positive and negative (or negative_1, negative_2 ...); an object of query, pos and neg,
    where pos and neg are lists."""
    for number, line in numbered:
        row = _json(path, number, line)
        if isinstance(row, list):
            if len(row) < 2 or not all(isinstance(text, str) for text in row):
                _refuse(path, number, "expected a list of anchor, positive and negatives, which are texts")
            anchor, positive, *negatives = row
            yield Example(Text(anchor), (Text(positive),), tuple(map(Text, negatives)))
            continue
        row = _object(path, number, line)
        if "pos" in row:
            query = Text(_string(path, number, row, "query"))
            yield Example(query, _list(path, number, row, "pos"), _list(path, number, row, "neg"))
            continue
        names = sorted((name for name in row if NEGATIVE.fullmatch(name)), key=lambda name: (len(name), name))
        unknown = sorted(set(row) - {"anchor", "positive", *names})
        if unknown:
            _refuse(path, number, f"the key '{unknown[0]}' is not anchor, positive or negative")
        anchor, positive, *negatives = (
            Text(_string(path, number, row, key)) for key in ("anchor", "positive", *names)
        )
        yield Example(anchor, (positive,), tuple(negatives))


def _rocketqa(path: Path, numbered: Numbered) -> Iterator[Example]:
    """Reads the columns query, title, passage, label (0 or 1), in which RocketQA trains its cross-encoder and
    RocketQAv2 trains both models jointly."""
    rows = (_columns(path, number, line, 4) for number, line in numbered)
    for query, group in itertools.groupby(rows, key=lambda row: row[1][0]):
        sides: dict[str, list[Text]] = {"1": [], "0": []}
        for number, (_, title, text, label) in group:
            if label not in sides:
                _refuse(path, number, f"the label '{label}' is neither 0 nor 1")
            sides[label].append(Text(text, _present(title)))
        yield Example(Text(query), tuple(sides["1"]), tuple(sides["0"]))


def _rocketqa_pairs(path: Path, numbered: Numbered) -> Iterator[Example]:
    """Reads the columns query, title and text of a positive, title and text of a negative, 0, in which
    RocketQA trains its dual-encoder."""
    rows = (_columns(path, number, line, 6) for number, line in numbered)
    for query, group in itertools.groupby(rows, key=lambda row: row[1][0]):
        positives: dict[Text, None] = {}
        negatives: dict[Text, None] = {}
        for _, (_, title, text, other_title, other, _) in group:
            positives[Text(text, _present(title))] = None
            negatives[Text(other, _present(other_title))] = None
        yield Example(Text(query), tuple(positives), tuple(negatives))


def _triples(path: Path, numbered: Numbered, *, ids: bool) -> Iterator[Example]:
    """Reads MS MARCO's query, positive, negative: texts (triples.train.small) or ids (qidpidtriples)."""
    rows = (_columns(path, number, line, 3) for number, line in numbered)
    for query, group in itertools.groupby(rows, key=lambda row: row[1][0]):
        positives: dict[Text, None] = {}
        negatives: dict[Text, None] = {}
        for number, columns in group:
            if ids and not all(map(NUMBER.fullmatch, columns)):
                _refuse(path, number, "expected three ids, which are whole numbers")
            positive, negative = (Text("", id=name) if ids else Text(name) for name in columns[1:])
            positives[positive] = None
            negatives[negative] = None
        yield Example(Text("", id=query) if ids else Text(query), tuple(positives), tuple(negatives))


FORMS: dict[str, Reader] = {
    "tevatron": _tevatron,
    "sentence-transformers": _sentence_transformers,
    "rocketqa": _rocketqa,
    "rocketqa-pairs": _rocketqa_pairs,
    "msmarco": lambda path, numbered: _triples(path, numbered, ids=False),
    "msmarco-ids": lambda path, numbered: _triples(path, numbered, ids=True),
}


def _present(title: str) -> str:
    return "" if title == "-" else title  # RocketQA writes a dash where there is no title


def _columns(path: Path, number: int, line: str, width: int) -> tuple[int, Sequence[str]]:
    columns = line.split("\t")
    if len(columns) != width:
        _refuse(path, number, f"expected {width} columns between tabs, got {len(columns)}")
    return number, columns


def _json(path: Path, number: int, line: str) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _refuse(path, number, f"this is not valid JSON ({error.msg})")


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    row = _json(path, number, line)
    if not isinstance(row, dict):
        _refuse(path, number, "expected a JSON object")
    return row


def _string(path: Path, number: int, row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        _refuse(path, number, f"the key '{key}' is missing or not a text")
    return value


def _list(path: Path, number: int, row: dict[str, Any], key: str) -> tuple[Text, ...]:
    texts = row.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        _refuse(path, number, f"'{key}' must be a list of texts")
    return tuple(map(Text, texts))


def _refuse(path: Path, number: int, problem: str) -> NoReturn:
    raise HarnessError(f"{path}:{number}: {problem}; mend or remove the line")
