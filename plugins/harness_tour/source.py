"""The source of `tour`: streams documents, and makes queries and judgements for some of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from harness.plugin import JSON, Card, Document, Inputs, Judgement, Part, Passage, Query
from harness_tour import TourParams
from harness_tour.generator import SLICES, STUBS, Article, Recipe, article, is_stub
from harness_tour.templates import digest

MOST = 1000  # queries, unless the parameter `queries` gives their number
SIBLINGS = 2  # judged passages of other documents, grade 0


class Task(NamedTuple):
    """A query whose words are not chosen yet: its slice, its document, and the passage that answers it."""

    id: str
    slice: str
    article: Article
    answer: int  # the index of the passage


class Tour:
    """A generated collection. Each call generates it again, so memory does not grow with it."""

    def __init__(self, params: TourParams) -> None:
        self._params = params
        self._recipe = Recipe(params.language, params.seed)

    def card(self) -> Card:
        return Card(language=self._params.language, split=self._params.split, licence="CC0-1.0")

    def inputs(self, part: Part) -> Inputs:
        params = self._params
        made: dict[str, JSON] = {
            "language": params.language,
            "documents": params.documents,
            "seed": params.seed,
            "templates": digest(),
        }
        if part != "corpus":
            made |= {"split": params.split, "queries": self._count()}
        return Inputs(made)

    def documents(self) -> Iterator[Document]:
        for index in range(self._params.documents):
            made = article(self._recipe, index)
            passages = tuple(
                Passage(passage_id(index, place), paragraph.text)
                for place, paragraph in enumerate(made.paragraphs)
            )
            yield Document(document_id(index), made.title, passages)

    def queries(self) -> Iterator[Query]:
        for task in self._tasks():
            section = task.article.paragraphs[task.answer].section
            assert section is not None
            draw = random.Random(f"tour/{self._params.seed}/{task.id}").random
            question = section.questions[int(draw() * len(section.questions))]
            facts = task.article.facts
            answer = section.answer.format_map(facts)
            yield Query(task.id, question.format_map(facts), (task.slice,), answers=(answer,))

    def judgements(self) -> Iterator[Judgement]:
        """The judgements of the queries: grade 2 for the passage that answers, 1 for a passage that continues
        it without the answer, and 0 for the same section in documents of the same subject."""
        for task in self._tasks():
            made = task.article
            yield Judgement(task.id, passage_id(made.number, task.answer), 2)
            after = task.answer + 1
            if after < len(made.paragraphs) and made.paragraphs[after].companion:
                yield Judgement(task.id, passage_id(made.number, after), 1)
            for passage in self._siblings(task):
                yield Judgement(task.id, passage, 0)

    def _count(self) -> int:
        if self._params.queries is not None:
            return self._params.queries
        return min(MOST, 2 * self._params.full_documents)

    def _tasks(self) -> Iterator[Task]:
        """The tasks of the split, for documents spread evenly over the corpus. Slices alternate, so that no
        document has a slice twice."""
        count, split = self._count(), self._params.split
        for number in range(count):
            full = number * self._params.full_documents // count
            made = article(self._recipe, full + full // (STUBS - 1))
            slice = SLICES[(number + (2 if split == "dev" else 0)) % len(SLICES)]
            offers = [
                place
                for place, paragraph in enumerate(made.paragraphs)
                if paragraph.slice == slice and not paragraph.companion
            ]
            turn = made.turn if split == "test" else 1 - made.turn
            yield Task(f"tour-{split}-{number:05d}", slice, made, offers[turn])

    def _siblings(self, task: Task) -> list[str]:
        """The ids of SIBLINGS passages, or fewer: those with the same section in the next documents of the
        same subject."""
        wanted = task.article.paragraphs[task.answer].section
        names: list[str] = []
        for step in range(1, min(30, self._params.documents)):
            index = (task.article.number + step) % self._params.documents
            if is_stub(index) or len(names) == SIBLINGS:
                continue
            other = article(self._recipe, index)
            if other.subject is not task.article.subject:
                continue
            names += [
                passage_id(index, place)
                for place, paragraph in enumerate(other.paragraphs)
                if paragraph.section is wanted and not paragraph.companion
            ]
        return names


def document_id(index: int) -> str:
    return f"tour-{index:06d}"


def passage_id(index: int, place: int) -> str:
    return f"tour-{index:06d}-{place:02d}"
