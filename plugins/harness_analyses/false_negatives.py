"""Compares systems and their order before and after judgements were added (DuReader-retrieval, figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from harness.plugin import AnalysisInput, Column, Finding, Hits, Ints, Judged
from harness.toolkit.scoring import kendall_tau
from harness_analyses import BeforeParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

LEVEL = 0.05  # a difference of two systems with a p-value below this counts as significant


class Swap(NamedTuple):
    """Two systems whose order before and after differs, with the difference of their means at each time."""

    pair: str
    before: float
    after: float
    significant: bool  # whether both differences are significant


class FalseNegatives:
    def __init__(self, params: BeforeParams) -> None:
        self._before = params.before

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        if data.dataset == self._before:
            return
        before = data.judged_of[self._before]
        judged_twice = np.intersect1d(before.query, data.judged.query).astype(np.int64)
        yield self._measures(data, before, judged_twice)
        yield self._positives(data, before)

    def _measures(self, data: AnalysisInput, before: Judged, judged_twice: Ints) -> Finding:
        """A finding: each measure before and after. All means are over the queries that were judged at both
        times, so that the same queries are compared."""
        rows: list[tuple[str, str, str, float]] = []
        notes = []
        for column in data.columns:
            systems = [system for system in data.systems if system.unit == column.unit]
            values = {
                when: np.stack(
                    [_values(data, system.hits, column, judged, judged_twice) for system in systems]
                )
                for when, judged in (("before", before), ("after", data.judged))
                if systems
            }
            for when, numbers in values.items():
                rows += [
                    (system.name, column.label, when, round(float(row.mean()), 6))
                    for system, row in zip(systems, numbers, strict=True)
                ]
            if len(systems) > 1:
                notes.append(_order(column.label, [system.name for system in systems], values))
        return Finding(
            name="false-negatives",
            title=f"Systems by the judgements of {self._before} and of {data.dataset}",
            kind="bar",
            columns=("system", "measure", "judgements", "mean"),
            rows=tuple(rows),
            x="system",
            y="mean",
            series="judgements",
            says=" ".join(
                [
                    f"Over the {len(judged_twice)} queries that both judge (DuReader-retrieval, figure 2).",
                    *notes,
                ]
            ),
        )

    def _positives(self, data: AnalysisInput, before: Judged) -> Finding:
        counts = [
            np.bincount(judged.query[judged.grade > 0], minlength=len(data.queries.ids))
            for judged in (before, data.judged)
        ]
        judged_queries = np.unique(data.judged.query)
        gained = int((counts[1][judged_queries] > counts[0][judged_queries]).sum())
        means = [round(float(count[judged_queries].mean()), 4) for count in counts]
        rows: tuple[tuple[str, float, float], ...] = (
            ("judged queries", float(len(np.unique(before.query))), float(len(judged_queries))),
            ("positives", float(counts[0][judged_queries].sum()), float(counts[1][judged_queries].sum())),
            ("positives a query", means[0], means[1]),
            ("queries that gained a positive", 0.0, float(gained)),
            (
                "share of queries that gained one",
                0.0,
                round(gained / len(judged_queries), 4) if len(judged_queries) else 0.0,
            ),
        )
        return Finding(
            name="gained-positives",
            title=f"Positives of {self._before} and of {data.dataset}",
            kind="table",
            columns=("what", "before", "after"),
            rows=rows,
            says="Counted over the queries that are judged after.",
        )


def _values(data: AnalysisInput, hits: Hits, column: Column, judged: Judged, queries: Ints) -> Values:
    """float64[queries]: the score of each query in `queries`."""
    scores = data.scores(hits, (column,), judged)
    at = np.searchsorted(scores.queries, queries)
    return np.asarray(scores.columns[0].values, np.float64)[at]


def _order(label: str, names: list[str], values: dict[str, Values]) -> str:
    """A sentence on how far the order of the systems stayed the same."""
    before, after = values["before"], values["after"]
    tau = kendall_tau(before.mean(axis=1).tolist(), after.mean(axis=1).tolist())
    swaps = []
    for i, j in combinations(range(len(names)), 2):
        first, second = before[i] - before[j], after[i] - after[j]
        if first.mean() * second.mean() < 0:
            significant = all(_p(each) < LEVEL for each in (first, second))
            swaps.append(Swap(f"{names[i]} and {names[j]}", first.mean(), second.mean(), significant))
    shown = "; ".join(f"{swap.pair}{', significantly' if swap.significant else ''}" for swap in swaps)
    changed = f"{len(swaps)} pairs swapped ({shown})" if swaps else "no pair swapped"
    return f"{label}: Kendall's tau {'-' if tau is None else f'{tau:.3f}'}, {changed}."


def _p(differences: Values) -> float:
    """The two-sided p-value of the paired t-test."""
    if not differences.std():
        return 1.0 if not differences.mean() else 0.0
    return float(stats.ttest_1samp(differences, 0).pvalue)
