"""Reads pools and writes judgements, in the files that docs/pools.md describes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from harness.plugin import HarnessError, shown_path
from harness.toolkit.files import writing
from harness_annotate import scheme as schemes
from harness_annotate.scheme import Choice, Scheme

FORM = "harness pool 1"
FILES = ("queries.jsonl", "documents.jsonl", "pairs.jsonl")  # in the order in which they are digested
S = TypeVar("S", bound=Struct)


class Head(Struct, frozen=True):
    """The fields of pool.json that annotation needs."""

    form: str
    name: str
    split: str
    digest: str
    language: str | None = None
    query_language: str | None = None


class Query(Struct, frozen=True):
    id: str
    text: str


class Passage(Struct, frozen=True):
    id: str
    text: str


class Document(Struct, frozen=True):
    id: str
    passages: tuple[Passage, ...]
    title: str = ""


class PoolPair(Struct, frozen=True):
    query: str
    passage: str
    document: str
    grade: int | None = None  # the grade that the dataset has already


class _PassageId(Struct, frozen=True):
    id: str


class _Ids(Struct, frozen=True):
    """A document without its texts."""

    id: str
    passages: tuple[_PassageId, ...]


class Pool:
    """A pool whose documents stay on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.head = _head(folder)
        if _digest(folder) != self.head.digest:
            what = "its files are not those that pool.json describes"
            raise HarnessError(f"{shown_path(folder)}: {what}; make the pool again, or copy it whole")
        self.queries = {query.id: query for query in _lines(folder / FILES[0], Query)}
        self.pairs = list(_lines(folder / FILES[2], PoolPair))
        self._documents: dict[str, tuple[int, int]] = {}  # id -> first byte and length of its line
        self._read_documents()
        self._check()

    def document(self, name: str) -> Document:
        start, size = self._documents[name]
        with (self.folder / FILES[1]).open("rb") as file:
            file.seek(start)
            return _decoded(file.read(size), Document, self.folder / FILES[1], 0)

    @cached_property
    def digests(self) -> dict[tuple[str, str], str]:
        """The SHA-256 of the text of each pooled passage, by the ids of its document and its own."""
        pooled = {(pair.document, pair.passage) for pair in self.pairs}
        return {
            (name, passage.id): hashlib.sha256(passage.text.encode()).hexdigest()
            for name in self._documents
            for passage in self.document(name).passages if (name, passage.id) in pooled
        }  # fmt: skip

    def _read_documents(self) -> None:
        """Notes where each document is in the file. Raises HarnessError if one lacks a pooled passage."""
        path, start = self.folder / FILES[1], 0
        pooled: dict[str, set[str]] = {}
        for pair in self.pairs:
            pooled.setdefault(pair.document, set()).add(pair.passage)
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                document = _decoded(line, _Ids, path, number)
                missing = pooled.get(document.id, set()) - {item.id for item in document.passages}
                if missing:
                    problem = f"the document '{document.id}' lacks the passage '{min(missing)}'"
                    raise HarnessError(f"{shown_path(path)}: {problem}; make the pool again")
                self._documents[document.id] = start, len(line)
                start += len(line)

    def _check(self) -> None:
        where = self.folder / FILES[2]
        seen: dict[tuple[str, str], int] = {}
        for number, pair in enumerate(self.pairs, 1):
            for what, name, known in (
                ("query", pair.query, self.queries), ("document", pair.document, self._documents),
            ):  # fmt: skip
                if name not in known:
                    problem = f"the {what} '{name}' is not in the pool; make the pool again"
                    raise HarnessError(f"{shown_path(where)}:{number}: {problem}")
            first = seen.setdefault((pair.query, pair.passage), number)
            if first != number:
                problem = f"this pair stands in line {first} already; keep one"
                raise HarnessError(f"{shown_path(where)}:{number}: {problem}")
        if not self.pairs:
            raise HarnessError(f"{shown_path(where)}: holds no pair; check the systems of the pool")


def _head(folder: Path) -> Head:
    path = folder / "pool.json"
    if not path.is_file():
        what = "is no pool (it has no pool.json); see docs/pools.md"
        raise HarnessError(f"{shown_path(folder)}: {what}")
    head = _decoded(path.read_bytes(), Head, path, 1)
    if head.form != FORM:
        raise HarnessError(
            f"{shown_path(path)}: its form is '{head.form}', not '{FORM}'; make the pool again"
        )
    return head


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for name in FILES:
        path = folder / name
        if not path.is_file():
            raise HarnessError(f"{shown_path(path)}: is missing; copy the pool whole")
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                total.update(piece)
    return total.hexdigest()


def _lines(path: Path, kind: type[S]) -> Iterator[S]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield _decoded(line, kind, path, number)


def _decoded(line: bytes, kind: type[S], path: Path, number: int) -> S:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = f"{str(error)[:1].lower()}{str(error)[1:]}"
        raise HarnessError(f"{shown_path(path)}:{number or '?'}: {what}; see docs/pools.md") from None


def read_gold(path: Path, pool: Pool, scheme: Scheme) -> dict[int, Choice]:
    """The questions with known answers, from a file with a header and tab-separated lines of query, passage,
    and grade or labels (joined by commas)."""
    numbers = {(pair.query, pair.passage): number for number, pair in enumerate(pool.pairs)}
    gold: dict[int, Choice] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HarnessError(f"{shown_path(path)}: cannot be read ({error}); check the path") from None
    if not lines or lines[0].split("\t")[:2] != ["query", "passage"]:
        problem = "the header is missing; begin with: query, passage, grade (between tabs)"
        raise HarnessError(f"{shown_path(path)}:1: {problem}")
    for place, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != 3:
            problem = f"expected query, passage and grade between tabs, got {len(columns)} columns; mend it"
            raise HarnessError(f"{shown_path(path)}:{place}: {problem}")
        number = numbers.get((columns[0], columns[1]))
        if number is None:
            problem = f"the pair {columns[0]}, {columns[1]} is not in the pool; remove the line"
            raise HarnessError(f"{shown_path(path)}:{place}: {problem}")
        try:
            gold[number] = _known(columns[2], scheme)
        except HarnessError as error:
            raise HarnessError(f"{shown_path(path)}:{place}: {error}") from None
    return gold


def _known(text: str, scheme: Scheme) -> Choice:
    if not scheme.grades:
        return schemes.choice(scheme, None, text.split(","))
    if not re.fullmatch("[0-9]", text):
        raise HarnessError(f"grade: '{text}' is not one of the scheme; choose one of the levels")
    return schemes.choice(scheme, int(text), ())


def write_judgements(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing.replacing(path) as beside, beside.open("wb") as file:
        for line in lines:
            file.write(msgspec.json.encode(line) + b"\n")


def write_qrels(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Writes the decided grades in BEIR's form."""
    with writing.replacing(path) as beside, beside.open("w", encoding="utf-8") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for line in lines:
            if line["grade"] is not None:
                file.write(f"{line['query']}\t{line['passage']}\t{line['grade']}\n")
