"""Reports the score as a function of the fusion weight, and what a weight for each query gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.plugin import AnalysisInput, Finding, Hits, SystemRun
from harness.toolkit.scoring import Scored, interval, mean, means_of_groups, slice_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]


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
        rows, values = [], []
        before: Hits | None = None
        changes = False
        for value in self.values:
            hits = vary(self.parameter, value)
            changes = changes or (before is not None and not _same(hits, before))
            before = hits
            scores = data.scores(hits, (column,))
            values.append(scores.columns[0].values)
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
        if system.fixed is not None:
            hits_of = (system.fixed(), system.hits)
            fixed, learned = (data.scores(hits, (column,)).columns[0] for hits in hits_of)
            best = np.max([*values, fixed.values, learned.values], axis=0)
            yield self.gains(system.name, fixed, learned.values, best)

    def gains(self, system: str, scored: Scored, learned: Doubles, oracle: Doubles) -> Finding:
        """The learned weights beside the best fixed weight, as `scored`, and the best one of each query."""
        fixed, label = scored.values, scored.column.label
        fixed_mean, *others = (
            interval(scored._replace(numerator=of_query, denominator=np.ones(len(fixed)), average="mean"))[:3]
            for of_query in (fixed, learned, oracle, learned - fixed, oracle - fixed)
        )
        names = ("learned for each query", "best of each query (oracle)")
        gained = zip(names, others[:2], others[2:], strict=True)
        return Finding(
            name=f"learned-weights/{system}",
            title=f"{label} of {system} by how its {self.parameter} is found",
            kind="bar",
            columns=(self.parameter, label, "low", "high", "gain", "gain from", "gain to"),
            rows=(
                ("best fixed", *fixed_mean, 0.0, 0.0, 0.0),
                *((name, *one, *gain) for name, one, gain in gained),
            ),
            x=self.parameter,
            y=label,
            says=f"Means over {len(fixed):,} queries and gains over the best fixed value, with 95 % "
            "bootstrap intervals of the same queries. The best fixed value was found on the queries that the "
            f"others were learned from. The oracle takes for each query the best of {len(self.values)} "
            "values and these two.",
            flags=("the oracle reads the judgements of the scored queries: no system can be as good",),
        )


def _same(one: Hits, other: Hits) -> bool:
    return np.array_equal(one.passages, other.passages) and np.array_equal(one.scores, other.scores)
