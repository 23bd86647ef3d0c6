"""How a suite scores hits. Rows, tuning, analyses and verification all score by this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, judging
from harness.collection.queries import Judgements, Queries
from harness.records import Column, Measure
from harness.scoring import answers, score
from harness.scoring.score import Documents, Scores
from harness.steps.rules import Rules
from harness.types import Hits


def judged_by(rules: Rules, read: Corpus, queries: Queries, judgements: Judgements) -> Judged:
    """The judgements of a collection that count."""
    return judging(read, queries, judgements, drop=rules.drop).judged


def scores_of(
    rules: Rules,
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
    if rules.by_answers and hits.unit == "passage":
        depth = rules.depth or hits.passages.shape[1]
        labels = answers.labels(read, queries, hits, depth) if labels is None else labels
        judged = answers.judged(labels, hits, queries, read.passages)
    documents = Documents(read.document_of, read.document_rank)
    return score.score(
        hits, judged, columns, size=read.passages, plugin_measures=plugin_measures, documents=documents,
        depth=rules.depth, strict=strict,
    )  # fmt: skip
