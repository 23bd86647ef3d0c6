"""Reads the hand-written sentences of a language, for documents and for questions."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
SUBJECTS = ("observatory", "bridge", "museum", "railway", "festival")
Draw = Callable[[], float]  # a number in [0, 1)
Lines = tuple[str, ...]  # paraphrases of one sentence


class Section(NamedTuple):
    """A passage that answers a question, and perhaps a second one that continues it without the answer."""

    name: str
    answer: str
    questions: Lines
    sentences: tuple[Lines, ...]
    more: tuple[Lines, ...]


class Subject(NamedTuple):
    """One kind of thing that documents are about."""

    name: str
    titles: Lines
    artefacts: tuple[str, ...]
    facts: Mapping[str, Any]
    intro: tuple[Lines, ...]
    open: tuple[Section, ...]
    topic: tuple[Section, ...]


class Templates(NamedTuple):
    joiner: str  # between sentences
    months: tuple[str, ...]
    sources: Lines  # say where a statement comes from
    facts: Mapping[str, Any]
    definition: tuple[Lines, ...]
    person: tuple[Section, ...]
    firm: tuple[Section, ...]
    hop: tuple[Section, ...]
    acronym: tuple[Section, ...]
    themes: tuple[tuple[Lines, ...], ...]
    pairs: Mapping[str, Lines]  # sentences that name two of: person, firm, artefact, body
    subjects: tuple[Subject, ...]


@functools.cache
def read(language: str) -> Templates:
    """All sentences of a language."""
    shared = _toml(language, "shared") | _toml(language, "people") | _toml(language, "objects")
    sections = {kind: _sections(shared[kind]) for kind in ("person", "firm", "hop", "acronym")}
    return Templates(
        joiner=" " if language == "en" else "",
        months=tuple(shared["months"]),
        sources=tuple(shared["sources"]),
        facts=shared["facts"],
        definition=_slots(shared["definition"]),
        themes=tuple(_lists(theme["slots"]) for theme in shared["themes"]),
        pairs={name: tuple(lines) for name, lines in shared["pairs"].items()},
        subjects=tuple(_subject(name, _toml(language, name)) for name in SUBJECTS),
        **sections,
    )


@functools.cache
def digest() -> str:
    """The digest of all templates. An input of the collection: another template, another one."""
    total = hashlib.sha256()
    for path in sorted([*HERE.glob("*.py"), *HERE.glob("*/*.toml")], key=lambda path: path.as_posix()):
        total.update(path.relative_to(HERE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def drawn(facts: Mapping[str, Any], known: dict[str, Any], draw: Draw, place: Callable[[Draw], str]) -> None:
    """Add a random value for every fact to `known`. `facts` describes the values of a fact by `[low, high]`,
    a list of texts, "place", or the years after another fact."""
    for name, kind in facts.items():
        if kind == "place":
            known[name] = place(draw)
        elif isinstance(kind, dict):
            low, high = kind["by"]
            known[name] = known[kind["after"]] + low + int(draw() * (high - low + 1))
        elif isinstance(kind[0], int):
            known[name] = kind[0] + int(draw() * (kind[1] - kind[0] + 1))
        else:
            known[name] = kind[int(draw() * len(kind))]


def _subject(name: str, table: Mapping[str, Any]) -> Subject:
    return Subject(
        name=name,
        titles=tuple(table["titles"]),
        artefacts=tuple(table["artefacts"]),
        facts=table["facts"],
        intro=_slots(table["intro"]),
        open=_sections(table["open"]),
        topic=_sections(table["topic"]),
    )


def _sections(tables: list[dict[str, Any]]) -> tuple[Section, ...]:
    return tuple(
        Section(
            table["name"],
            table["answer"],
            tuple(table["questions"]),
            _lists(table["sentences"]),
            _lists(table.get("more", [])),
        )
        for table in tables
    )


def _slots(tables: list[dict[str, Any]]) -> tuple[Lines, ...]:
    return tuple(tuple(table["lines"]) for table in tables)


def _lists(lists: list[list[str]]) -> tuple[Lines, ...]:
    return tuple(tuple(lines) for lines in lists)


def _toml(language: str, name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / language / f"{name}.toml").read_text(encoding="utf-8"))
