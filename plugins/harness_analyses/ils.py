"""Reports intra-list similarity: how similar the passages of a query are (T2Ranking, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness import catalogue
from harness.catalogue import params as parameters
from harness.contracts import Encoding
from harness.errors import HarnessError
from harness.findings import Finding
from harness.scoring.analysis_input import AnalysisInput
from harness.types import Facts
from harness_analyses import IlsParams

if TYPE_CHECKING:
    from harness.types import Floats, Ints


class Ils:
    def __init__(self, params: IlsParams) -> None:
        self._params = params

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        lists = self._lists(data)
        passages = np.unique(np.concatenate([np.zeros(0, np.int64), *lists.values()]))
        encoder = _encoder(self._params, data.language)
        vectors = encoder.encode(data.corpus.texts(passages), False)
        values = [
            similarity(vectors[np.searchsorted(passages, positions)])
            for positions in lists.values()
            if len(positions) > 1
        ]
        mean = round(float(np.mean(values)), 4) if values else None
        yield Finding(
            name="ils",
            title="Intra-list similarity",
            kind="table",
            columns=("passages", "encoder", "lists", "similarity"),
            rows=((self._params.of, str(dict(self._params.encoder)), len(values), mean),),
            says="The mean over queries of the mean cosine of two of a query's passages (T2Ranking, equation "
            "4, table 4), over queries with two passages or more. Lower is more diverse.",
        )

    def _lists(self, data: AnalysisInput) -> dict[int, Ints]:
        """The positions of the passages to compare, for each query."""
        if self._params.of == "results":
            runs = [system for system in data.systems if system.unit == "passage"]
            hits = runs[0].hits.passages[:, : self._params.depth] if runs else np.zeros((0, 0), np.int64)
            return {query: row[row >= 0] for query, row in enumerate(hits)}
        judged = data.judged
        there = judged.passage < data.corpus.passages
        if self._params.of == "positives":
            there &= judged.grade > 0
        queries, positions = judged.query[there], judged.passage[there]
        return {int(query): positions[queries == query] for query in np.unique(queries)}


def similarity(vectors: Floats) -> float:
    """The mean cosine over all pairs of rows, in O(n): (|sum u|^2 - sum |u|^2) / (n (n - 1)), where u are the
    rows scaled to length 1. A row of zeros has the cosine 0 with every other row."""
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    total = unit.sum(axis=0)
    return float((total @ total - (unit * unit).sum()) / (len(rows) * (len(rows) - 1)))


def _encoder(params: IlsParams, language: str | None) -> Encoding:
    [(name, given)] = params.encoder.items()
    record = catalogue.load().find("retrievers", name).record
    values, problems = parameters.convert(record.params, given or {}, Path.cwd())
    if problems:
        raise HarnessError(f"ils: encoder: {name}: {problems[0].text}")
    resolved = record.resolve(values, Facts(language, language, "passage")) if record.resolve else values
    built = record.build(resolved)
    if not isinstance(built, Encoding):
        raise HarnessError(
            f"ils: the retriever '{name}' gives no vectors; name one that does, such as 'dense'"
        )
    return built
