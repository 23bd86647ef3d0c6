"""Aligns MS MARCO's question answering with its documents, as DAPR's authors do (appendix A, released code).

A passage of a question is looked for in the document that has the passage's address, with at most five
differences. The places of these passages are the candidates of a document, and the text between them is
passages that are no candidates. If places overlap, only one of them stays: test comes before dev, and dev
before train.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from harness.plugin import Document, Part, Passage
from harness.toolkit.files.paths import there
from harness.toolkit.files.reading import lines, refuse, text_of
from harness_dapr import OriginalParams
from harness_dapr.alignment import aligned
from harness_dapr.conditionalqa import decoded
from harness_dapr.splits import SEED

if TYPE_CHECKING:
    from harness_dapr.original import Labelled

SPLITS = ("test", "dev", "train")  # an earlier split keeps its place if two overlap


class _Found(msgspec.Struct, gc=False):
    url: str
    text: str = msgspec.field(name="passage_text")
    selected: int = msgspec.field(name="is_selected", default=0)


class _Questions(msgspec.Struct):
    """The columns of the release. Each maps the number of a row to its value."""

    query_id: dict[str, int]
    query: dict[str, str]
    passages: dict[str, list[_Found]]


class _Page(NamedTuple):
    id: str
    title: str
    text: str


class Span(NamedTuple):
    """A passage of a question at its place in a document."""

    url: str
    start: int
    end: int
    query: str  # the question's id
    text: str  # the question
    selected: int  # 1: an annotator answered the question from the passage


class MsMarco:
    url = "https://microsoft.github.io/msmarco/"

    def __init__(self, params: OriginalParams) -> None:
        self._split = params.split
        self._pages_file = there(params.path / "msmarco-docs.tsv")
        self._asked = {name: there(params.path / f"{name}_v2.1.json") for name in ("dev", "train")}
        self._qrels = there(params.path / "qrels.dev.small.tsv")
        if not params.train:
            del self._asked["train"]
        small = ("made without the training questions and their documents",)
        self.notes: tuple[str, ...] = () if params.train else small

    def files(self, part: Part) -> tuple[Path, ...]:
        return (self._pages_file, *self._asked.values(), self._qrels)

    def documents(self) -> Iterator[Document]:
        spans = by_url(span for spans in self._spans.values() for span in spans)
        for url, page in self._pages.items():
            if url in spans:
                passages = tuple(passage for passage, _ in parts(page, spans[url]))
                yield Document(page.id, page.title, passages)

    def labelled(self) -> Iterator[Labelled]:
        from harness_dapr.original import Labelled

        texts = {span.query: span.text for span in self._spans[self._split] if span.selected}
        positives: dict[str, list[str]] = {query: [] for query in texts}
        every = by_url(span for spans in self._spans.values() for span in spans)
        for url in {span.url: None for span in self._spans[self._split] if span.selected}:
            for passage, span in parts(self._pages[url], every[url]):
                if span is not None and span.selected and span.query in positives:
                    positives[span.query].append(passage.id)
        for query, text in texts.items():
            yield Labelled(query, text, tuple(positives[query]))

    @cached_property
    def _questions(self) -> dict[str, _Questions]:
        return {name: decoded(path, _Questions) for name, path in self._asked.items()}

    @cached_property
    def _pages(self) -> dict[str, _Page]:
        """The documents that a question names, by their addresses. If several documents have one address, the
        last stays. Documents without text are left out."""
        named = {passage.url for questions in self._questions.values()
                 for passages in questions.passages.values() for passage in passages}  # fmt: skip
        pages = {}
        for number, line in lines(self._pages_file):
            cells = text_of(self._pages_file, number, line).split("\t")
            if len(cells) != 4:
                refuse(
                    self._pages_file,
                    number,
                    f"expected 4 columns (id, address, title, text), got {len(cells)}",
                )
            id, url, title, body = cells
            if url in named and body.strip():
                pages[url] = _Page(id, title, body.strip())
        return pages

    @cached_property
    def _spans(self) -> dict[str, list[Span]]:
        """The places of passages by split, without those that overlap another place that stays."""
        ranked = set()
        for number, line in lines(self._qrels):
            cells = text_of(self._qrels, number, line).split()
            if len(cells) != 4:
                refuse(self._qrels, number, f"expected 4 columns, got {len(cells)}")
            ranked.add(cells[0])
        held_out = [span for span in self._aligned("dev") if span.selected]
        test = [span for span in held_out if span.query in ranked]
        others = [span for span in held_out if span.query not in ranked]
        dev = random.Random(SEED).sample(others, min(len(test), len(others)))
        train = self._aligned("train") if "train" in self._asked else []
        return apart({"test": test, "dev": dev, "train": train})

    def _aligned(self, name: str) -> list[Span]:
        """The places of all passages of a file, each place once, in the order of the file."""
        questions = self._questions[name]
        spans: dict[tuple[str, int, int], Span] = {}
        for row, passages in questions.passages.items():
            for passage in passages:
                page = self._pages.get(passage.url)
                place = None if page is None else aligned(passage.text, page.text)
                if place is not None:
                    query = str(questions.query_id[row])
                    span = Span(passage.url, *place, query, questions.query[row], passage.selected)
                    spans.setdefault((passage.url, *place), span)
        return list(spans.values())


def by_url(spans: Iterable[Span]) -> dict[str, list[Span]]:
    of_pages: dict[str, list[Span]] = {}
    for span in spans:
        of_pages.setdefault(span.url, []).append(span)
    return of_pages


def apart(spans: dict[str, list[Span]]) -> dict[str, list[Span]]:
    """The spans by split, without overlaps. Of two spans that overlap, the one of the earlier split stays.
    Within test and within dev, the span that begins first stays; within train, the one that begins last (as
    in the released code)."""
    order = {split: number for number, split in enumerate(SPLITS)}
    dropped: set[tuple[str, Span]] = set()
    for group in by_page(spans).values():
        stays = group[0]
        for item in group[1:]:
            if stays[1].end <= item[1].start:
                stays = item
                continue
            last = stays[0] == item[0] == "train"
            loser = stays if last or order[item[0]] < order[stays[0]] else item
            dropped.add(loser)
            stays = item if loser is stays else stays
    return {split: [span for span in every if (split, span) not in dropped] for split, every in spans.items()}


def by_page(spans: dict[str, list[Span]]) -> dict[str, list[tuple[str, Span]]]:
    """The spans of each document in the order of their places, each with its split."""
    pages: dict[str, list[tuple[str, Span]]] = {}
    for split in SPLITS:
        for span in spans[split]:
            pages.setdefault(span.url, []).append((split, span))
    return {url: sorted(group, key=lambda item: item[1][1:3]) for url, group in pages.items()}


def parts(page: _Page, spans: Iterable[Span]) -> Iterator[tuple[Passage, Span | None]]:
    """The passages of a document in order: the spans, which are candidates, and the text between them."""
    begin, number = 0, 0
    for span in [*sorted(spans, key=lambda span: span[1:3]), None]:
        start = len(page.text) if span is None else span.start
        if start > begin:
            yield Passage(f"{page.id}-{number}", page.text[begin:start], candidate=False), None
            number += 1
        if span is not None and span.end > span.start:
            yield Passage(f"{page.id}-{number}", page.text[span.start : span.end]), span
            number += 1
        begin = start if span is None else span.end
