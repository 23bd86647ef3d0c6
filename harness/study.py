"""What an analysis reads: a dataset, the systems that ran on it and what they found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness import score
from harness.corpus import Corpus
from harness.measures.grades import Judged
from harness.records import Column, Measure
from harness.score import Documents, Scores
from harness.texts import View
from harness.topics import Queries
from harness.types import JSON, Hits, Unit


@dataclass(frozen=True)
class Ran:
    """A system of the suite that ran on the dataset."""

    name: str
    unit: Unit
    hits: Hits  # row q is query q; canonical, and as deep as the suite
    context: tuple[str, ...]  # the stages of context that its retriever reads
    texts: View  # the texts as its retriever reads them
    reported: tuple[JSON, ...]  # what its methods told: {"step", "method", "facts"}
    parameters: tuple[str, ...]  # of its combiner, if it has one
    vary: Callable[[str, float], Hits] | None  # the combiner's hits with another value of a parameter


@dataclass(frozen=True)
class Study:
    """A dataset with what was found on it."""

    dataset: str
    language: str | None
    notes: tuple[str, ...]  # what the dataset says that a reader must know
    queries: Queries
    judged: Judged  # by number of query and position of passage, in parallel
    corpus: Corpus
    systems: tuple[Ran, ...]  # in the suite's order
    columns: tuple[Column, ...]  # of the leaderboard; the first is its main one
    own: dict[str, Measure]

    def scores(self, hits: Hits, columns: tuple[Column, ...]) -> Scores:
        documents = Documents(self.corpus.document_of, self.corpus.document_rank)
        size = self.corpus.passages
        return score.score(hits, self.judged, columns, size=size, own=self.own, documents=documents)
