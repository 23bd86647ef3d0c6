"""Reports the score as a function of the fusion weight, overall and on each slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding, Hits, SystemRun
from harness.toolkit.scoring import mean, means_of_groups, slice_groups


class Weights:
    def __init__(self, params: Any) -> None:
        self.parameter = params.parameter
        self.values = [round(i / params.steps, 10) for i in range(params.steps + 1)]

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        for system in data.systems:
            if system.vary is not None and self.parameter in system.parameters:
                yield from self.curve(data, system, system.vary)

    def curve(
        self, data: AnalysisInput, system: SystemRun, vary: Callable[[str, float], Hits]
    ) -> Iterator[Finding]:
        """Yields the curve of the score over the values of the parameter. Yields nothing if all values give
        the same hits, as when another parameter overrides this one."""
        column = data.columns[0]
        if system.unit == "document":
            column = column._replace(unit="document")
        groups = slice_groups(data.queries)
        rows = []
        before: Hits | None = None
        changes = False
        for value in self.values:
            hits = vary(self.parameter, value)
            changes = changes or (before is not None and not _same(hits, before))
            before = hits
            scores = data.scores(hits, (column,))
            rows.append(("all queries", value, mean(scores.columns[0])))
            rows += [(name, value, of_group) for name, of_group, _ in means_of_groups(scores, groups)]
        if not changes:
            return
        yield Finding(
            name=f"weights/{system.name}",
            title=f"{column.label} of {system.name} by {self.parameter}",
            kind="line",
            columns=("queries", self.parameter, column.label),
            rows=tuple(rows),
            x=self.parameter,
            y=column.label,
            series="queries",
            says="The same inputs combined with every value; the weight is the first input's (DAPR, figure "
            "2, whose weight is the document side's).",
            flags=("the curve is of the scored queries: to choose from it is to select on them",),
        )


def _same(one: Hits, other: Hits) -> bool:
    return np.array_equal(one.passages, other.passages) and np.array_equal(one.scores, other.scores)
