"""What an analysis reads: a dataset, the systems that ran on it and what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged
from harness.collection.queries import Queries
from harness.records import Column, Measure
from harness.scoring.rules import Rules, scores_of
from harness.scoring.score import Scores
from harness.types import JSON, Hits, Unit


@dataclass(frozen=True)
class SystemRun:
    """A system of the suite that ran on the dataset."""

    name: str
    unit: Unit
    hits: Hits  # row q is query q; canonical, and as deep as the suite
    context: tuple[str, ...]  # the stages of context that its retriever reads, with what the suite set
    stages: tuple[str, ...]  # the same as ids of steps: equal ids mean equal additions
    retriever: str | None  # equal for the same retriever and settings, whatever it reads; None for several
    texts: View  # the texts as its retriever reads them
    reported: tuple[JSON, ...]  # what its methods told: {"step", "method", "facts"}
    parameters: tuple[str, ...]  # of its combiner, if it has one
    vary: Callable[[str, float], Hits] | None  # the combiner's hits with another value of a parameter


@dataclass(frozen=True)
class AnalysisInput:
    """A dataset with what was found on it."""

    dataset: str
    language: str | None
    notes: tuple[str, ...]  # what the dataset says that a reader must know
    queries: Queries
    judged: Judged  # by number of query and position of passage, in parallel
    rules: Rules  # what else decides about a score
    corpus: Corpus
    systems: tuple[SystemRun, ...]  # in the suite's order
    columns: tuple[Column, ...]  # of the leaderboard; the first is its main one
    plugin_measures: dict[str, Measure]
    # of the datasets that its parameters name, by number in this one: theirs of its own queries and passages
    judged_of: Mapping[str, Judged] = field(default_factory=dict)

    def scores(self, hits: Hits, columns: tuple[Column, ...], judged: Judged | None = None) -> Scores:
        """As the rows of the leaderboard are scored, by these judgements or the dataset's own."""
        return scores_of(
            self.rules,
            hits,
            self.judged if judged is None else judged,
            columns,
            self.corpus,
            self.queries,
            self.plugin_measures,
            strict=True,
        )
