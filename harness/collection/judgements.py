"""Stored judgements -> those of a corpus and its queries, by number; what is unknown is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.collection.corpus import Corpus
from harness.collection.queries import Judgements, Queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints


class Judged(NamedTuple):
    """Judgements by number. A passage that the corpus lacks is numbered from the corpus' size upwards,
    each such id with its own number: it can never be found, and stays in the denominators."""

    query: NDArray[np.int32]  # int32[J]
    passage: Ints  # int64[J]
    grade: NDArray[np.int32]  # int32[J]
    labels: tuple[tuple[str, ...], ...] | None = None  # of each judgement; None: none has any


class Judging(NamedTuple):
    judged: Judged  # a passage that the corpus lacks has a position beyond its last
    missing: Ints  # numbers of the judged passages that the corpus lacks, in `passage_ids`
    of_missing: int  # judgements of them
    of_unknown_queries: int  # judgements of queries that are not asked


def judging(read: Corpus, queries: Queries, judgements: Judgements, *, drop: bool = False) -> Judging:
    """With `drop`, what is judged of passages that the corpus lacks counts as not relevant: the query stays,
    and with no positive left it scores 0, as any such query."""
    positions = read.positions(judgements.passage_ids)
    missing = np.flatnonzero(positions < 0)
    number = {name: i for i, name in enumerate(queries.ids)}
    numbers = np.array([number.get(name, -1) for name in judgements.query_ids], np.int32)
    query = numbers[judgements.query] if len(judgements.query) else np.zeros(0, np.int32)
    kept = query >= 0
    grade = judgements.grade
    if drop:
        grade = np.where(positions[judgements.passage] < 0, np.int32(0), grade)
    positions[missing] = read.passages + np.arange(len(missing))  # distinct, and never found
    labels = judgements.labels
    if labels is not None:
        labels = tuple(labels[i] for i in np.flatnonzero(kept).tolist())
    judged = Judged(query[kept], positions[judgements.passage][kept], grade[kept], labels)
    of_missing = int(np.isin(judgements.passage, missing).sum())
    return Judging(judged, missing, of_missing, int((~kept).sum()))
