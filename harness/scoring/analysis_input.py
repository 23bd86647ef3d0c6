"""The input of an analysis: a dataset, the systems that ran on it and their hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged
from harness.collection.queries import Queries
from harness.records import Column, Measure
from harness.scoring.score import Scores, scores_of
from harness.steps.rules import Rules
from harness.types import JSON, Floats, Hits, Unit


class TrainedModel(NamedTuple):
    """How a model of a system was trained by the suite."""

    trainer: str
    params: Mapping[str, JSON]
    settings: Mapping[str, JSON]  # seed, number of queries, and how negatives are drawn
    negatives: int  # the most negatives of a query in one epoch


@dataclass(frozen=True)
class SystemRun:
    """A system of the suite that ran on the dataset."""

    name: str
    unit: Unit
    hits: Hits  # canonical, as deep as the suite; row q is query q
    context: tuple[str, ...]  # the context stages that its retriever reads, with the suite's parameters
    stages: tuple[str, ...]  # the ids of these stages' steps; equal ids mean equal additions
    retriever: str | None  # equal for equal retrievers and settings, whatever the texts; None: several
    texts: View  # the texts as its retriever reads them
    reported: tuple[JSON, ...]  # the facts that its methods reported: {"step", "method", "facts"}
    parameters: tuple[str, ...]  # the parameters of its combiner, if it has one
    vary: Callable[[str, float], Hits] | None  # gives its combiner's hits with another value of a parameter
    # gives its combiner's hits with the best fixed value, if each query has a learned value
    fixed: Callable[[], Hits] | None = None
    search: Mapping[str, JSON] | None = None  # its retriever's parameters, if it is a retriever alone
    reranks: bool = False  # whether its hits are those of a re-ranker
    trained: TrainedModel | None = None  # of the models that the suite trained for it: the last one


@dataclass(frozen=True)
class AnalysisInput:
    """A dataset with the systems that ran on it, as an analysis reads them."""

    dataset: str
    language: str | None
    notes: tuple[str, ...]  # the dataset's notes for readers
    queries: Queries
    judged: Judged  # the judgements, by number of query and position of passage
    rules: Rules  # further rules of scoring
    corpus: Corpus
    systems: tuple[SystemRun, ...]  # in the suite's order
    columns: tuple[Column, ...]  # the leaderboard's columns, the main column first
    plugin_measures: dict[str, Measure]
    # the vectors of texts, as queries or as passages, by the retriever that the analysis' parameters name
    encode: Callable[[Sequence[str], bool], Floats] | None = None
    # by name of each dataset that the analysis' parameters name: that dataset's judgements of this dataset's
    # queries and passages, by their numbers here
    judged_of: Mapping[str, Judged] = field(default_factory=dict)
    # by name of each dataset or split that the parameters name (`splits` of the record): its queries
    queries_of: Mapping[str, Queries] = field(default_factory=dict)

    def scores(self, hits: Hits, columns: tuple[Column, ...], judged: Judged | None = None) -> Scores:
        """The scores of hits, computed as for the rows of the leaderboard, by the judgements `judged` or the
        dataset's own."""
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
