"""Describes a collection: the numbers of DuReader-retrieval's table 3, grades, and where positives stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc

from harness.plugin import AnalysisInput, Finding


class Collection:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        judged, judged_queries = data.judged, np.unique(data.judged.query)
        positives = np.bincount(judged.query[judged.grade > 0], minlength=len(data.queries.ids))[
            judged_queries
        ]
        lengths = np.concatenate([pc.utf8_length(texts).to_numpy() for texts in data.corpus.text_columns()])
        queries = np.array([len(data.queries.texts[query]) for query in judged_queries.tolist()])
        rows = (
            ("judged queries", len(judged_queries)),
            ("positives", int(positives.sum())),
            ("positives a query", _rounded(positives)),
            ("characters a query", _rounded(queries)),
            ("characters a passage", _rounded(lengths)),
            ("characters a passage, median", float(np.median(lengths)) if len(lengths) else 0.0),
            ("passages", data.corpus.passages),
        )
        yield Finding(
            name="collection",
            title="The collection in numbers",
            kind="table",
            columns=("what", "number"),
            rows=tuple((what, float(number)) for what, number in rows),
            says="In the form of DuReader-retrieval's table 3. Lengths are of judged queries.",
        )
        levels, counts = np.unique(judged.grade, return_counts=True)
        yield Finding(
            name="grades",
            title="Judgements by grade",
            kind="bar",
            columns=("grade", "judgements", "share"),
            rows=tuple(
                (str(level), count, round(count / len(judged.grade), 4))
                for level, count in zip(levels.tolist(), counts.tolist(), strict=True)
            ),
            x="grade",
            y="share",
            says="The shares of all judgements (T2Ranking, figure 4).",
        )
        numbers, times = np.unique(positives, return_counts=True)
        yield Finding(
            name="positives-per-query",
            title="Queries by their positives",
            kind="bar",
            columns=("positives", "queries"),
            rows=tuple(zip(numbers.tolist(), times.tolist(), strict=True)),
            x="positives",
            y="queries",
        )
        yield _places(data)


def _places(data: AnalysisInput) -> Finding:
    """A finding: how many positives begin in each tenth of their document."""
    judged, read = data.judged, data.corpus
    chosen = judged.passage[(judged.grade > 0) & (judged.passage < read.passages)]
    owners = read.document_of[chosen]
    sizes = read.first[owners + 1] - read.first[owners]
    longer = sizes > 1
    tenths = (10 * (chosen - read.first[owners])[longer] // sizes[longer]).astype(np.int64)
    counts = np.bincount(tenths, minlength=10)
    return Finding(
        name="places-of-positives",
        title="Where in their documents positives stand",
        kind="bar",
        columns=("tenth", "positives"),
        rows=tuple((tenth + 1, count) for tenth, count in enumerate(counts.tolist())),
        x="tenth",
        y="positives",
        says="Positives in documents of several passages, by the tenth of the document that they begin in.",
    )


def _rounded(values: np.ndarray[Any, Any]) -> float:
    return round(float(values.mean()), 4) if len(values) else 0.0
