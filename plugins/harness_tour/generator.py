"""Writes document number i of a collection. The text depends only on the seed and i.

Every full document has passages on its subject, a person, a firm, a society (with a full and a short name),
an object that the subject owns, and the ship that brought this object. In each slice, the passage that
answers a question has these properties:

- self-contained: it names the title and states the fact.
- main-topic: it has no word of the title and never refers to the subject. Documents of the same kind have
  the same passage with other facts.
- coreference: it refers to the person only by a pronoun, or to the firm only by a noun phrase. The name is
  in an earlier passage and not in the title. A document has one person and one firm, so the nearest
  antecedent of the right kind is the right one.
- multi-hop: it names the ship, the question names the object, and only another passage connects them.
- acronym: it has one form of the society's name, and the question has the other. Another passage, the
  second of the document, has both.

The name in the question also occurs in passages that do not answer it. So knowing the right document is not
enough to find the passage.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from harness_tour import names_en, names_zh
from harness_tour.templates import Draw, Lines, Section, Subject, Templates, drawn, read

SLICES = ("self-contained", "coreference", "main-topic", "multi-hop", "acronym")
STUBS = 10  # one document in STUBS is a stub: no queries, few passages
# Pairs of sentences about two names each that together name all four names once.
_PAIRINGS = (
    ("person_firm", "artefact_body"),
    ("person_artefact", "firm_body"),
    ("person_body", "firm_artefact"),
)


class Namer(Protocol):
    """The interface of a language's module of names."""

    @property
    def SHORT_NAMES(self) -> int: ...

    def place(self, draw: Draw) -> str: ...

    def names(self, index: int, nouns: tuple[str, ...], seed: int) -> Mapping[str, str]: ...


_NAMES: Mapping[str, Namer] = {"en": names_en, "zh": names_zh}


class Recipe(NamedTuple):
    """Everything that determines a collection, except its size."""

    language: str
    seed: int


class Paragraph(NamedTuple):
    """A passage, with the slice and the section of the questions that it answers, if any."""

    text: str
    slice: str = ""
    section: Section | None = None
    companion: bool = False  # continues the section of the passage before it, without the answer


class Article(NamedTuple):
    number: int
    subject: Subject
    title: str
    paragraphs: tuple[Paragraph, ...]
    facts: Mapping[str, Any]  # the values filled into the sentences
    turn: int  # 0 or 1: which of two questions of a slice the split `test` asks


def article(recipe: Recipe, index: int) -> Article:
    draw = random.Random(f"tour/{recipe.seed}/{index}").random
    templates = read(recipe.language)
    subject = subject_of(templates, index)
    names = _NAMES[recipe.language]
    facts: dict[str, Any] = dict(names.names(index, subject.artefacts, recipe.seed))
    facts["title"] = _pick(subject.titles, draw).format_map(facts)
    by_short = draw() < 0.5 and index < names.SHORT_NAMES  # the short name must be unique
    asked_form, answering = ("short", "full") if by_short else ("full", "short")
    facts["body"], facts["other"] = facts[asked_form], facts[answering]
    drawn(templates.facts, facts, draw, names.place)
    drawn(subject.facts, facts, draw, names.place)
    pen = _Pen(facts, draw, names, templates)
    write = _stub if is_stub(index) else _full
    paragraphs = tuple(write(pen, subject))
    return Article(index, subject, facts["title"], paragraphs, facts, int(draw() * 2))


def is_stub(index: int) -> bool:
    return index % STUBS == STUBS - 1


def subject_of(templates: Templates, index: int) -> Subject:
    """The subject of a document: five consecutive documents all differ, and stubs have all subjects."""
    return templates.subjects[(index + index // 5) % len(templates.subjects)]


class _Pen(NamedTuple):
    facts: dict[str, Any]
    draw: Draw
    names: Namer
    templates: Templates


def _stub(pen: _Pen, subject: Subject) -> list[Paragraph]:
    pairs, last = _pair_sentences(pen, 2)
    return [
        Paragraph(_text(pen, subject.intro)),
        Paragraph(_text(pen, (*subject.open[0].sentences, last[0])), SLICES[0], subject.open[0]),
        Paragraph(_text(pen, (*pen.templates.themes[0], *pairs))),
        *_answer(pen, "main-topic", subject.topic[int(pen.draw() * len(subject.topic))]),
    ]


def _full(pen: _Pen, subject: Subject) -> list[Paragraph]:
    """The paragraphs of a full document: first the introduction and the definition, which introduce all
    names, then the others in random order."""
    templates, draw = pen.templates, pen.draw
    *pairs, last = _pair_sentences(pen, 5)
    blocks = [[Paragraph(_text(pen, (*theme, *pairs.pop())))] for theme in _some(templates.themes, 4, draw)]
    for section, lines in zip(_some(subject.open, 2, draw), last, strict=True):
        text = _text(pen, (*section.sentences, lines))
        blocks.append([Paragraph(text, "self-contained", section)])
    blocks += [_answer(pen, "main-topic", section) for section in _some(subject.topic, 2, draw)]
    blocks += [_answer(pen, "coreference", section) for section in _some(templates.person, 1, draw)]
    blocks += [_answer(pen, "coreference", section) for section in _some(templates.firm, 1, draw)]
    blocks += [_answer(pen, "multi-hop", section) for section in _some(templates.hop, 2, draw)]
    blocks += [_answer(pen, "acronym", section) for section in _some(templates.acronym, 2, draw)]
    first = [Paragraph(_text(pen, subject.intro)), Paragraph(_text(pen, templates.definition))]
    return first + [paragraph for block in _some(tuple(blocks), len(blocks), draw) for paragraph in block]


def _answer(pen: _Pen, slice: str, section: Section) -> list[Paragraph]:
    """The passage that answers the query. In about half of the cases, a second passage that continues it
    follows. A passage ends with its source if nothing else in it distinguishes two documents."""
    source = pen.templates.sources
    slots = (*section.sentences, source) if slice in ("main-topic", "coreference") else section.sentences
    answer = Paragraph(_text(pen, slots), slice, section)
    if not section.more or pen.draw() < 0.5:
        return [answer]
    return [answer, Paragraph(_text(pen, (*section.more, source)), slice, section, companion=True)]


def _pair_sentences(pen: _Pen, count: int) -> list[tuple[Lines, Lines]]:
    """`count` pairs of sentences. The two sentences of a pair together mention each of the four names of the
    document once. No sentence comes twice."""
    pairs = pen.templates.pairs
    start = int(pen.draw() * 60)
    chosen: list[tuple[Lines, Lines]] = []
    for number in range(start, start + count):
        one, two = _PAIRINGS[number % 3]
        turn = number // 3
        chosen.append(((pairs[one][turn % len(pairs[one])],), (pairs[two][(turn + 1) % len(pairs[two])],)))
    return chosen


def _text(pen: _Pen, slots: tuple[Lines, ...]) -> str:
    return pen.templates.joiner.join([_sentence(pen, lines) for lines in slots])


def _sentence(pen: _Pen, lines: Lines) -> str:
    facts, draw = pen.facts, pen.draw
    template = lines[int(draw() * len(lines))]
    if "{e}" in template:  # a year in which the person worked and the firm existed
        facts["e"] = facts["opened"] + 2 + int(draw() * 12)
    if "{y}" in template:
        facts["y"] = facts["opened"] + 15 + int(draw() * 70)
    if "{month}" in template:
        months = pen.templates.months
        facts["month"], facts["d"] = months[int(draw() * len(months))], 1 + int(draw() * 28)
    if "{n}" in template:
        facts["n"] = 4 + int(draw() * 86)
    if "{spot}" in template:
        facts["spot"] = pen.names.place(draw)
    text = template.format_map(facts)
    return text[0].upper() + text[1:]


def _some(items: tuple[Any, ...], count: int, draw: Draw) -> list[Any]:
    """`count` of the items in random order."""
    rest = list(items)
    return [rest.pop(int(draw() * len(rest))) for _ in range(count)]


def _pick(lines: Lines, draw: Draw) -> str:
    return lines[int(draw() * len(lines))]
