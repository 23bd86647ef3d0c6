"""Reads Natural Questions as DAPR's authors do: each line has a question and the blocks of a Wikipedia page.

The passages of a page are its blocks of the type `text`; tables and lists are left out. A positive is a long
answer of that type. Each page is in the corpus once, with the first question about it. Questions of the test
split come before those of the training split (DAPR, appendix A, and the released code).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.plugin import Document, Part, Passage
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import there
from harness.toolkit.files.reading import refuse
from harness_dapr import OriginalParams
from harness_dapr.splits import drawn

if TYPE_CHECKING:
    from harness_dapr.original import Labelled

FILES = {"test": "dev.jsonl", "train": "train.jsonl"}  # the paper's test split is the release's dev split
NAMES = {"test": "dev", "train": "train"}  # the id of a question is this name and its line, counted from 0
TEXT = "text"  # the type of paragraphs; others: table, list, list_definition, invalid


class _Question(msgspec.Struct):
    question: str
    title: str
    candidates: list[str]
    types: list[str] = msgspec.field(name="passage_types")
    long_answers: list[int]

    @property
    def paragraphs(self) -> list[int]:
        return [place for place, kind in enumerate(self.types) if kind == TEXT]

    @property
    def answers(self) -> list[int]:
        return [place for place in self.long_answers if self.types[place] == TEXT]

    @property
    def answered(self) -> bool:
        return any(self.candidates[place] for place in self.answers)

    @property
    def distracts(self) -> bool:
        """Whether the page has a paragraph with text that is no answer."""
        return any(self.candidates[place] for place in set(self.paragraphs) - set(self.answers))


_KEYS = Keys(
    ("question", "title", "candidates", "passage_types", "long_answers"),
    {
        "question": ("str",),
        "title": ("str",),
        "candidates": ("list",),
        "passage_types": ("list",),
        "long_answers": ("list",),
    },
)


class NaturalQuestions:
    url = "https://huggingface.co/datasets/sentence-transformers/NQ-retrieval"
    notes: tuple[str, ...] = ()

    def __init__(self, params: OriginalParams) -> None:
        self._split = params.split
        splits = ("test", "train") if params.train else ("test",)
        self._paths = {split: there(params.path / FILES[split]) for split in splits}

    def files(self, part: Part) -> tuple[Path, ...]:
        return tuple(self._paths.values())

    def documents(self) -> Iterator[Document]:
        for _, name, question in self._kept():
            passages = tuple(
                Passage(f"{name}-{number}", question.candidates[place])
                for number, place in enumerate(question.paragraphs)
            )
            yield Document(name, question.title, passages)

    def labelled(self) -> Iterator[Labelled]:
        from harness_dapr.original import Labelled

        dev = frozenset() if self._split == "test" else self._dev()
        for split, name, question in self._kept():
            if not question.answered or self._split != ("dev" if name in dev else split):
                continue
            if self._split != "train" or question.distracts:
                number = {place: number for number, place in enumerate(question.paragraphs)}
                positives = dict.fromkeys(f"{name}-{number[place]}" for place in question.answers)
                yield Labelled(name, question.question, tuple(positives))

    def _dev(self) -> frozenset[str]:
        """The ids of the training questions that are the dev split: as many as the test split has."""
        answered = [(split, name) for split, name, question in self._kept() if question.answered]
        asked = [name for split, name in answered if split == "train"]
        return frozenset(asked[place] for place in drawn(len(asked), len(answered) - len(asked)))

    def _kept(self) -> Iterator[tuple[str, str, _Question]]:
        """The questions whose pages are in the corpus, with their splits and ids. A question whose page has
        no paragraph with text is left out. So is a question of the test split whose answer is no such
        paragraph."""
        titles: set[str] = set()
        for split, path in self._paths.items():
            records: Records[Any] = Records(path, (_Question,), _KEYS)
            for line, question in records.numbered():
                _check(path, line, question)
                if not any(question.candidates[place] for place in question.paragraphs):
                    continue
                if (split == "test" and not question.answered) or question.title.lower() in titles:
                    continue
                titles.add(question.title.lower())
                yield split, f"{NAMES[split]}-{line - 1}", question


def _check(path: Path, line: int, question: _Question) -> None:
    if len(question.types) != len(question.candidates):
        refuse(path, line, "'candidates' and 'passage_types' are of different lengths; copy the line again")
    if any(not 0 <= place < len(question.types) for place in question.long_answers):
        refuse(path, line, "'long_answers' names a block that is not there; copy the line again")
