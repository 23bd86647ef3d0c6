"""How a suite scores hits. Rows, tuning, analyses and verification all score by this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, Judging, judging
from harness.collection.queries import Judgements, Queries
from harness.records import Column, Measure
from harness.scoring import answers, score
from harness.scoring.score import Documents, Scores
from harness.types import Hits


class Rules(NamedTuple):
    """The rules that decide about a score, beside hits, judgements and columns."""

    drop: bool = False  # whether judged passages that the corpus lacks count as not relevant
    depth: int | None = None  # the depth at which runs are cut before scoring; None: runs are not cut
    by_answers: bool = False  # whether a passage is relevant if it contains an answer

    def judging(self, read: Corpus, queries: Queries, judgements: Judgements) -> Judging:
        return judging(read, queries, judgements, drop=self.drop)


def scores_of(
    how: Rules,
    hits: Hits,
    judged: Judged,
    columns: Sequence[Column],
    read: Corpus,
    queries: Queries,
    plugin_measures: Mapping[str, Measure],
    labels: answers.Labels | None = None,
    strict: bool = False,
) -> Scores:
    """The scores of hits that `ranking.canonical` has ordered. `labels` are the labels of
    `harness.scoring.answers`, if they are known. Hits of documents are never judged by answers. If a plugin's
    measure fails, its column is left out; with `strict`, ContractError is raised."""
    if how.by_answers and hits.unit == "passage":
        depth = how.depth or hits.passages.shape[1]
        labels = answers.labels(read, queries, hits, depth) if labels is None else labels
        judged = answers.judged(labels, hits, queries, read.passages)
    documents = Documents(read.document_of, read.document_rank)
    return score.score(
        hits, judged, columns, size=read.passages, plugin_measures=plugin_measures, documents=documents,
        depth=how.depth, strict=strict,
    )  # fmt: skip
