"""The part of a collection that a trial reads: some queries, and a sample of passages with judged ones."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from harness.collection.corpus_rows import checked, rows_of
from harness.contracts import ColumnarSource, Source
from harness.types import Judgement, Query

BYTES = 8  # length of the digests that decide which ids are taken


class Limits(NamedTuple):
    """The limits of a trial: the numbers of queries and passages that it reads, or None for all."""

    queries: int | None
    passages: int | None


def queries(source: Source, limits: Limits) -> Iterable[Query]:
    """The queries of a trial, in the source's order: the judged queries whose ids have the smallest digests.
    A query's digest does not depend on the order of a file or on other queries. If the source has no
    judgements, queries are chosen from all queries."""
    if limits.queries is None:
        return source.queries()
    known = list(source.queries())
    judged = {judgement.query for judgement in source.judgements()}
    ids = [query.id for query in known if query.id in judged or not judged]
    chosen = set(sorted(ids, key=_digest)[: limits.queries])
    return [query for query in known if query.id in chosen]


def judgements(source: Source, limits: Limits) -> Iterable[Judgement]:
    """The judgements of the queries of a trial."""
    if limits.queries is None:
        return source.judgements()
    chosen = {query.id for query in queries(source, limits)}
    return [judgement for judgement in source.judgements() if judgement.query in chosen]


class Sample:
    """The passages of a trial: whole documents, in the source's order. Documents with a passage that is
    judged for a chosen query are taken, and the documents with the smallest digests, until these have as many
    passages as the limit says. The source is read twice and never held in memory."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source, self._limits = source, limits
        self._kept: list[NDArray[np.int64]] = []

    def rows(self) -> Iterator[pa.RecordBatch]:
        wanted = {judgement.passage for judgement in judgements(self._source, self._limits)}
        digests, judged = array("Q"), set[str]()
        for batch in self._batches():
            for id, document in zip(*_names(batch), strict=True):
                digests.append(_digest(document))
                if id in wanted:
                    judged.add(document)
        most = self._limits.passages or len(digests)
        highest = int(np.sort(np.frombuffer(digests, np.uint64))[:most][-1]) if digests else -1
        self._kept, start = [], 0
        for batch in self._batches():
            _, documents = _names(batch)
            keep = np.flatnonzero([_digest(name) <= highest or name in judged for name in documents])
            self._kept.append(keep + start)
            start += batch.num_rows
            yield batch.take(pa.array(keep))

    def locate(self, row: int) -> str:
        """The place in the source of a row of the sample."""
        at = int(np.concatenate(self._kept)[row])
        return self._source.locate(at) if isinstance(self._source, ColumnarSource) else f"passage {at + 1}"

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if isinstance(self._source, ColumnarSource):
            return checked(self._source.rows())
        return rows_of(self._source.documents())


def _names(batch: pa.RecordBatch) -> tuple[list[str], list[str]]:
    """The ids of the passages and of their documents. A passage without a document is a document of its own,
    with the passage's id."""
    ids = batch.column("id").to_pylist()
    return ids, [name or id for id, name in zip(ids, batch.column("document").to_pylist(), strict=True)]


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=BYTES).digest(), "big")
