"""Makes a run from ranks and grades alone, to show how each protocol scores the same ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.collection.judgements import Judged
from harness.records import Measure, Protocol
from harness.scoring.ranking import Documents
from harness.scoring.score import score, summarise
from harness.types import Hits

if TYPE_CHECKING:
    from harness.types import Ints


class Toy(NamedTuple):
    """A run with its judgements. No two queries share a passage. The passages at ranks 1 and 2 are one
    document, those at ranks 3 and 4 the next, and so on."""

    hits: Hits
    judged: Judged
    documents: Documents


def toy_of(queries: Mapping[str, Any]) -> Toy:
    """The run that `{query: {length: L, found: {rank: grade}, missed: [grade, ...]}}` describes. A query has
    L ranked passages; `missed` has the grades of judged passages that the ranking lacks."""
    width = max(query["length"] for query in queries.values())
    passages = np.full((len(queries), width), -1, np.int64)
    judged: list[tuple[int, int, int]] = []
    document_of: list[int] = []
    for row, query in enumerate(queries.values()):
        start, length = len(document_of), query["length"]
        passages[row, :length] = np.arange(start, start + length)
        first = document_of[-1] + 1 if document_of else 0
        document_of += [first + rank // 2 for rank in range(length)]
        judged += [(row, start + int(rank) - 1, grade) for rank, grade in query["found"].items()]
        for grade in query["missed"]:
            judged.append((row, len(document_of), grade))
            document_of.append(document_of[-1] + 1 if document_of else 0)
    scores = np.where(passages < 0, -np.inf, -np.arange(width)).astype(np.float32)
    return Toy(Hits(passages, scores), _judged(judged), _documents(document_of))


def values(toy: Toy, protocol: Protocol, plugin_measures: Mapping[str, Measure]) -> list[float]:
    """The mean of each column of the protocol, in order."""
    size = len(toy.documents.document_of)
    scores = score(
        toy.hits,
        toy.judged,
        protocol.columns,
        size=size,
        plugin_measures=plugin_measures,
        documents=toy.documents,
        depth=protocol.depth,
    )
    summary = summarise(scores, seed=0)
    return [summary[column.label].mean for column in protocol.columns]


def _judged(rows: list[tuple[int, int, int]]) -> Judged:
    query, passage, grade = np.array(rows, np.int64).reshape(-1, 3).T
    return Judged(query.astype(np.int32), passage, grade.astype(np.int32))


def _documents(document_of: list[int]) -> Documents:
    ranks: Ints = np.arange(document_of[-1] + 1)
    return Documents(np.array(document_of, np.int32), ranks.astype(np.int32))
