"""The source of DuReader 2.0: questions with their web documents and written answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.plugin import Card, Document, Inputs, Judgement, Part, Passage, Query
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import there
from harness.toolkit.files.reading import refuse
from harness_dureader import RawParams

CITATION = (
    "He et al., DuReader: a Chinese Machine Reading Comprehension Dataset from Real-world Applications, 2018"
)
URL = "https://github.com/baidu/DuReader"
LICENCE = "Apache-2.0"
NOTE = "no passage is judged: the paragraphs of a question's own documents have the grade 0, to be labelled"


class _Page(msgspec.Struct, gc=False):
    title: str
    paragraphs: list[str]


class _Question(msgspec.Struct):
    id: int | str = msgspec.field(name="question_id")
    text: str = msgspec.field(name="question")
    documents: list[_Page]
    answers: list[str] = []


_KEYS = Keys(
    ("question_id", "question", "documents"),
    {"question_id": ("int", "str"), "question": ("str",), "documents": ("list",), "answers": ("list",)},
)


class Raw:
    """The release as a dataset: the questions of one split, and a corpus of the web documents of all splits
    in the parameter `documents`. The id of a document is `<question>-<number>`, and the id of a paragraph is
    `<question>-<number>-<number>`. Blank paragraphs are left out."""

    def __init__(self, params: RawParams) -> None:
        self._params = params

    def card(self) -> Card:
        return Card("zh", self._params.split, None, LICENCE, CITATION, URL, (NOTE,))

    def inputs(self, part: Part) -> Inputs:
        """The files that a part is read from. Queries and judgements need only their split's file."""
        if part == "corpus":
            return Inputs({}, tuple(self._file(split) for split in self._params.documents))
        return Inputs({}, (self._file(self._params.split),))

    def documents(self) -> Iterator[Document]:
        seen: dict[str, str] = {}
        for split in self._params.documents:
            path = self._file(split)
            for line, question in self._questions(split):
                if str(question.id) in seen:
                    what = f"question '{question.id}' is already at {seen[str(question.id)]}"
                    refuse(path, line, f"{what}; keep one")
                seen[str(question.id)] = f"{path}:{line}"
                for name, page in _pages(question):
                    passages = tuple(Passage(id, text) for id, text in _paragraphs(name, page))
                    if passages:
                        yield Document(name, page.title, passages)

    def queries(self) -> Iterator[Query]:
        for _, question in self._questions(self._params.split):
            answers = tuple(answer for answer in question.answers if answer.strip())
            yield Query(str(question.id), question.text, answers=answers)

    def judgements(self) -> Iterator[Judgement]:
        for _, question in self._questions(self._params.split):
            for name, page in _pages(question):
                for passage, _ in _paragraphs(name, page):
                    yield Judgement(str(question.id), passage, 0)

    def _questions(self, split: str) -> Iterator[tuple[int, _Question]]:
        records: Records[Any] = Records(self._file(split), (_Question,), _KEYS)
        yield from records.numbered()

    def _file(self, split: str) -> Path:
        return there(self._params.path / f"{split}.jsonl")


def _pages(question: _Question) -> Iterator[tuple[str, _Page]]:
    for number, page in enumerate(question.documents):
        yield f"{question.id}-{number}", page


def _paragraphs(name: str, page: _Page) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(page.paragraphs):
        if text.strip():
            yield f"{name}-{number}", text
