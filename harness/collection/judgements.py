"""Relates judgements and excluded ids to the numbers of a corpus and its queries, and counts unknown ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.corpus import Corpus
from harness.collection.queries import Judgements, Queries
from harness.types import Ints, Unit


class Judged(NamedTuple):
    """J judgements, with queries and passages as numbers. The passages that the corpus lacks have distinct
    numbers from the corpus' size upwards. They are never found, but count in the denominators of measures."""

    query: NDArray[np.int32]  # int32[J]
    passage: Ints  # int64[J]
    grade: NDArray[np.int32]  # int32[J]
    labels: tuple[tuple[str, ...], ...] | None = None  # the labels of each judgement; None: no labels


class Judging(NamedTuple):
    judged: Judged
    missing: Ints  # places in `passage_ids` of the judged passages that the corpus lacks
    of_missing: int  # number of judgements of such passages
    of_unknown_queries: int  # number of judgements of queries that are not among `queries`


def judging(read: Corpus, queries: Queries, judgements: Judgements, *, drop: bool = False) -> Judging:
    """The judgements as numbers: each names its query and its passage by their numbers in `queries` and
    `read`, not by ids. Passages that the corpus lacks keep their grade; with `drop`, they count as not
    relevant. A query whose positives are all dropped stays and scores 0."""
    positions = read.positions(judgements.passage_ids)
    missing = np.flatnonzero(positions < 0)
    number = {name: i for i, name in enumerate(queries.ids)}
    numbers = np.array([number.get(name, -1) for name in judgements.query_ids], np.int32)
    query = numbers[judgements.query] if len(judgements.query) else np.zeros(0, np.int32)
    kept = query >= 0
    grade = judgements.grade
    if drop:
        grade = np.where(positions[judgements.passage] < 0, np.int32(0), grade)
    positions[missing] = read.passages + np.arange(len(missing))  # distinct numbers that are never found
    labels = judgements.labels
    if labels is not None:
        labels = tuple(labels[i] for i in np.flatnonzero(kept).tolist())
    judged = Judged(query[kept], positions[judgements.passage][kept], grade[kept], labels)
    of_missing = int(np.isin(judgements.passage, missing).sum())
    return Judging(judged, missing, of_missing, int((~kept).sum()))


def excluded_positions(read: Corpus, queries: Queries, unit: Unit) -> list[Ints] | None:
    """The positions that the harness takes out of each query's ranking, or None if no query excludes any. Ids
    that the corpus lacks are ignored. A document is excluded if all of its passages are."""
    if not any(queries.exclude):
        return None
    positions_of_ids = read.positions([name for ids in queries.exclude for name in ids])
    ends = np.cumsum([len(ids) for ids in queries.exclude])
    each = [positions[positions >= 0] for positions in np.split(positions_of_ids, ends[:-1])]
    return [_whole_documents(read, positions) for positions in each] if unit == "document" else each


def _whole_documents(read: Corpus, positions: Ints) -> Ints:
    """The documents that have all of their passages among `positions`."""
    documents, counts = np.unique(read.document_of[np.unique(positions)], return_counts=True)
    whole: Ints = documents[counts == np.diff(read.first)[documents]].astype(np.int64)
    return whole
