"""Reads ConditionalQA's own files: web pages as lists of HTML elements, and questions with their evidence.

Each element is a passage, without its tags. A query is the scenario and the question. Its positives are the
elements that the evidence names. If a page has several equal elements, the first is the positive. Questions
without evidence are left out (DAPR, appendix A).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.plugin import Document, Part, Passage
from harness.toolkit.files.paths import there
from harness.toolkit.files.reading import pieces, refuse
from harness_dapr import OriginalParams
from harness_dapr.source import TAG
from harness_dapr.splits import drawn

if TYPE_CHECKING:
    from harness_dapr.original import Labelled

FILES = {"train": "train.json", "dev": "train.json", "test": "dev.json"}  # the paper's test split is here dev


class _Page(msgspec.Struct):
    url: str
    title: str
    contents: list[str]


class _Question(msgspec.Struct):
    id: str
    url: str
    scenario: str
    question: str
    evidences: list[str]


class ConditionalQA:
    url = "https://haitian-sun.github.io/conditionalqa/"
    notes: tuple[str, ...] = ()

    def __init__(self, params: OriginalParams) -> None:
        self._pages_file = there(params.path / "documents.json")
        self._split = params.split
        self._questions_file = there(params.path / FILES[params.split])
        self._test_file = there(params.path / FILES["test"])

    def files(self, part: Part) -> tuple[Path, ...]:
        asked = dict.fromkeys((self._questions_file, self._test_file))
        return (self._pages_file, *(() if part == "corpus" else asked))

    def documents(self) -> Iterator[Document]:
        for number, page in enumerate(self._pages):
            passages = tuple(
                Passage(f"{number}-{place}", untagged(element)) for place, element in enumerate(page.contents)
            )
            if passages:
                yield Document(str(number), page.title, passages)

    def labelled(self) -> Iterator[Labelled]:
        from harness_dapr.original import Labelled

        numbers = {page.url: number for number, page in enumerate(self._pages)}
        for question in self._of_split():
            number = numbers.get(question.url)
            if number is None:
                refuse(self._questions_file, 1, f"question '{question.id}' is of a page that is not there")
            contents = self._pages[number].contents
            lacking = [element for element in question.evidences if element not in contents]
            if lacking:
                what = f"question '{question.id}': its page has no element {lacking[0]!r}"
                refuse(self._questions_file, 1, f"{what}; take all files from one release")
            places = dict.fromkeys(contents.index(element) for element in question.evidences)
            positives = tuple(f"{number}-{place}" for place in places)
            yield Labelled(question.id, f"{question.scenario} {question.question}", positives)

    def _of_split(self) -> list[_Question]:
        """The questions of the split that have evidence. The dev split has as many as the test split."""
        questions = _with_evidence(self._questions_file)
        if self._split == "test":
            return questions
        dev = drawn(len(questions), len(_with_evidence(self._test_file)))
        return [
            question for place, question in enumerate(questions) if (place in dev) == (self._split == "dev")
        ]

    @cached_property
    def _pages(self) -> list[_Page]:
        return list(decoded(self._pages_file, list[_Page]))


def _with_evidence(path: Path) -> list[_Question]:
    return [question for question in decoded(path, list[_Question]) if question.evidences]


def untagged(element: str) -> str:
    return re.sub(TAG, "", element).strip()


def decoded(path: Path, kind: Any) -> Any:
    """The content of a JSON file as `kind`."""
    try:
        return msgspec.json.decode(b"".join(pieces(path)), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        refuse(path, 1, f"it is not in the form of the release ({error}); copy it again")
