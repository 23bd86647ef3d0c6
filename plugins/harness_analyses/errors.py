"""Counts the labels that people gave to pairs, such as the reasons of errors (DuReader, table 10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding


class Errors:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        labels = data.judged.labels or ()
        labelled = np.array([bool(names) for names in labels], np.bool_)
        if not labelled.any():
            return
        pairs = int(labelled.sum())
        queries = len(np.unique(data.judged.query[labelled]))
        counts = Counter(name for names in labels for name in names)
        queries_with: dict[str, set[int]] = {name: set() for name in counts}
        for query, names in zip(data.judged.query.tolist(), labels, strict=True):
            for name in names:
                queries_with[name].add(query)
        order = sorted(counts, key=lambda name: (-counts[name], name))
        yield Finding(
            name="errors",
            title="Labels of the judged pairs",
            kind="bar",
            columns=("label", "share", "pairs", "queries"),
            rows=tuple(
                (name, round(counts[name] / pairs, 4), counts[name], len(queries_with[name]))
                for name in order
            ),
            x="label",
            y="share",
            says=f"The share of the {pairs} labelled pairs of {queries} queries that have each label "
            "(DuReader-retrieval, table 10). A pair may have several labels. The labels of the pairs that "
            "`sample-errors` draws are the reasons why the system failed.",
        )
