"""Headings in the texts of a document.

A marked heading begins with `#` to `######` (Markdown) or `<h1>` to `<h6>` (HTML). In a document without
marked headings, a line looks like a plain heading if it

- is short,
- begins with a capital or a letter of a script without capitals, perhaps after a number, as in "2.1 Scope",
- ends with a letter, digit, question mark or closing bracket,
- and contains no cell border of a table.

Such a line is a heading if running text follows, which is a line without these properties. More than two
such lines in a row are a list, and none of them is a heading.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MARKDOWN = re.compile(r"(#{1,6})(?=\s)")
HTML = re.compile(r"<h([1-6])\b[^>]*+>", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")
WORDS, CHARACTERS = 12, 20  # the longest plain heading: words, or characters of scripts without spaces
NUMBER = re.compile(r"\d+(?:\.\d+)*[.)]?\s+(?=\S)")
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")  # kana and Chinese characters
PLAIN = 7  # the level of a plain heading; a second one right after it is one level below
ROW = 2  # the largest number of plain headings in a row
BETWEEN = " > "


class Line(NamedTuple):
    passage: int
    text: str


class Heading(NamedTuple):
    level: int
    text: str


def above(texts: Sequence[str], plain: bool) -> list[str]:
    """The headings above each passage of a document, outermost first. They are the headings that hold at the
    passage's first line of running text, or at its end if it has only headings. Headings in the passage
    itself are left out."""
    lines = [
        Line(i, line.strip()) for i, text in enumerate(texts) for line in text.splitlines() if line.strip()
    ]
    marks = [marked(line.text) for line in lines]
    if plain and not any(marks):
        marks = list(plain_ones([line.text for line in lines]))
    headings = [""] * len(texts)
    settled = [False] * len(texts)
    path: list[tuple[Heading, int]] = []  # each heading with its passage
    for line, heading in zip(lines, marks, strict=True):
        if heading is not None:
            path = [(over, place) for over, place in path if over.level < heading.level]
            path.append((heading, line.passage))
        if not settled[line.passage]:
            others = [over.text for over, place in path if place != line.passage]
            headings[line.passage] = BETWEEN.join(others)
            settled[line.passage] = heading is None
    return headings


def marked(line: str) -> Heading | None:
    """The heading that a stripped line marks, or None. The time is linear in the length of the line."""
    markdown, tagged = MARKDOWN.match(line), HTML.match(line)
    if markdown is not None:
        level, text = len(markdown[1]), line[markdown.end() :].rstrip("#")
    elif tagged is not None:
        level, text = int(tagged[1]), html.unescape(TAG.sub(" ", _unclosed(line[tagged.end() :], tagged[1])))
    else:
        return None
    text = " ".join(text.split())
    return Heading(level, text) if text else None


def _unclosed(text: str, level: str) -> str:
    """The text, without a closing tag `</hN>` of this level at its end."""
    start = text.rfind("</")
    closes = start >= 0 and re.fullmatch(rf"</h{level}\s*+>", text[start:], re.IGNORECASE)
    return text[:start] if closes else text


def plain_ones(lines: list[str]) -> Iterator[Heading | None]:
    """For each line of a document without marked headings: its heading, or None if it is none."""
    row: list[str] = []
    for line in lines:
        if looks_plain(line):
            row.append(line)
        else:
            yield from _row(row)
            yield None
            row = []
    yield from (None for _ in row)  # no running text follows, so these lines are no headings


def _row(lines: list[str]) -> Iterator[Heading | None]:
    for depth, line in enumerate(lines):
        yield Heading(PLAIN + depth, line) if len(lines) <= ROW else None


def looks_plain(line: str) -> bool:
    start = NUMBER.match(line)
    first = line[start.end() if start else 0]
    length = len(UNSPACED.findall(line))
    short = length <= CHARACTERS if length else len(line.split()) <= WORDS
    ends = line[-1].isalnum() or line[-1] in "?？)）】》"
    return (
        short and ends and (first in "【《" or (first.isalpha() and not first.islower())) and "|" not in line
    )
