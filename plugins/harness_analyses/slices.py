"""Scores each system on each slice of the queries, and by the labels of judged pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding, Judged
from harness.toolkit.scoring import mean, slice_groups, system_means_of_groups


class Slices:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        yield from _by_query(data)
        if data.judged.labels is not None and not data.rules.by_answers:
            yield _by_pair(data, data.judged.labels)


def _by_query(data: AnalysisInput) -> Iterator[Finding]:
    groups = slice_groups(data.queries)
    if not groups:
        return
    column = data.columns[0]
    means = system_means_of_groups(data, groups)
    yield Finding(
        name="slices",
        title=f"{column.label} by slice",
        kind="bar",
        columns=("slice", "system", column.label, "queries"),
        rows=tuple((name, system, value, count) for system, name, value, count in means),
        x="slice",
        y=column.label,
        series="system",
        says="The mean over the queries of each slice (DAPR, figure 3).",
    )


def _by_pair(data: AnalysisInput, labels: tuple[tuple[str, ...], ...]) -> Finding:
    """A finding: the score of each system by label. For a label, only the judged pairs with that label count;
    a query's other pairs are left out."""
    column = data.columns[0]
    rows = []
    for name in sorted({label for of_pair in labels for label in of_pair}):
        chosen = np.array([name in of_pair for of_pair in labels])
        judged = Judged(*(part[chosen] for part in data.judged[:3]))
        for system in data.systems:
            if system.unit == column.unit:
                scores = dataclasses.replace(data, judged=judged).scores(system.hits, (column,))
                value, queries = mean(scores.columns[0]), len(scores.queries)
                rows.append((name, system.name, value, queries, int(chosen.sum())))
    return Finding(
        name="labels",
        title=f"{column.label} by label of the judged pairs",
        kind="bar",
        columns=("label", "system", column.label, "queries", "pairs"),
        rows=tuple(rows),
        x="label",
        y=column.label,
        series="system",
        says="As if the pairs with a label were the only judged ones: a query with several relevant passages "
        "counts for each label by those passages alone (DAPR, figure 3 by pairs of table 2).",
    )
