"""Reports intra-list similarity (T2Ranking, section 5): of all queries, or of the passages of each query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding, Floats, Ints
from harness_analyses import IlsParams

OF_QUERIES = "The mean cosine of two queries, over all pairs of queries (T2Ranking, equation 4, table 4)."
OF_PASSAGES = (
    "The mean over queries of the mean cosine of two of a query's passages (T2Ranking's equation 4 within "
    "each query), over queries with two passages or more."
)


class Ils:
    def __init__(self, params: IlsParams) -> None:
        self._params = params

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        assert data.encode is not None  # the record requires an encoder
        if self._params.of == "queries":
            values = [similarity(data.encode(data.queries.texts, True))] if len(data.queries.ids) > 1 else []
            texts, lists, says = len(data.queries.ids), len(values), OF_QUERIES
        else:
            positions = self._lists(data)
            passages = np.unique(np.concatenate([np.zeros(0, np.int64), *positions.values()]))
            vectors = data.encode(data.corpus.texts(passages), False)
            values = [
                similarity(vectors[np.searchsorted(passages, each)])
                for each in positions.values()
                if len(each) > 1
            ]
            texts, lists, says = len(passages), len(values), OF_PASSAGES
        yield Finding(
            name="ils",
            title="Intra-list similarity",
            kind="table",
            columns=("of", "encoder", "texts", "lists", "similarity"),
            rows=(
                (
                    self._params.of,
                    named(self._params.encoder),
                    texts,
                    lists,
                    round(float(np.mean(values)), 4) if values else None,
                ),
            ),
            says=f"{says} Lower is more diverse.",
        )

    def _lists(self, data: AnalysisInput) -> dict[int, Ints]:
        """The positions of the passages to compare, for each query."""
        if self._params.of == "results":
            runs = [system for system in data.systems if system.unit == "passage"]
            hits = runs[0].hits.passages[:, : self._params.depth] if runs else np.zeros((0, 0), np.int64)
            return {query: row[row >= 0] for query, row in enumerate(hits)}
        judged = data.judged
        kept = judged.passage < data.corpus.passages
        if self._params.of == "positives":
            kept &= judged.grade > 0
        queries, positions = judged.query[kept], judged.passage[kept]
        return {int(query): positions[queries == query] for query in np.unique(queries)}


def named(encoder: Mapping[str, Any]) -> str:
    """The retriever and its model without the folder, which another machine does not have."""
    [(name, values)] = encoder.items()
    return f"{name} {PurePath(str((values or {}).get('model', ''))).name}".strip()


def similarity(vectors: Floats) -> float:
    """The mean cosine over all pairs of rows, in O(n): (|sum u|^2 - sum |u|^2) / (n (n - 1)), where u are the
    rows scaled to length 1. A row of zeros has the cosine 0 with every other row."""
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    total = unit.sum(axis=0)
    return float((total @ total - (unit * unit).sum()) / (len(rows) * (len(rows) - 1)))
