"""Numbers of scores for analyses and measures: means, also of groups of queries, intervals, differences of
systems, and agreement of orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.queries import Queries
from harness.compare.significance import PERMUTATIONS
from harness.compare.stats import family
from harness.compare.stats.block import Block, levels, pseudo_values
from harness.compare.stats.signs import Pairs, prepare
from harness.scoring.analysis_input import AnalysisInput
from harness.scoring.bootstrap import Sample, Summary, exact, resampled, summaries
from harness.scoring.measures.grades import relevant
from harness.scoring.rank_agreement import kendall_tau
from harness.scoring.score import Scored, Scores, mean

__all__ = [
    "Difference", "Scored", "differences", "interval", "kendall_tau", "mean", "means_of_groups", "relevant",
    "slice_groups", "system_means_of_groups",
]  # fmt: skip
ALPHA, SEED = 0.05, 0


class Difference(NamedTuple):
    """The difference of a system from another one in a measure, over the same queries."""

    difference: float
    low: float  # the 95 % interval of this difference alone
    high: float
    p: float  # corrected for all systems and measures that are compared, by max-T
    least: float  # the lower end of an interval that holds for all of these at once


def interval(scored: Scored) -> Summary:
    """The mean of a column, with its 95 % bootstrap interval."""
    return summaries([Sample(*scored[1:])], SEED)[0]


def differences(measures: Sequence[Sequence[Scored]]) -> list[list[Difference]]:
    """The differences of all systems but the first from the first, for each measure. `measures` has a column
    of each system over the same queries, for each measure. The tests are those of `harness compare`."""
    count = len(measures[0]) - 1
    pairs = Pairs(np.arange(1, count + 1), np.zeros(count, np.int64))
    blocks = [
        Block(
            np.stack([each.numerator for each in columns], axis=1),
            np.stack([each.denominator for each in columns], axis=1),
            columns[0].average,
        )
        for columns in measures
    ]
    group = family.Group(tuple(prepare(block, pairs) for block in blocks), SEED)
    tested = family.randomised([group], np.zeros(count * len(blocks), np.int64), PERMUTATIONS, ALPHA)
    critical, adjusted = tested.critical.get(0, 0.0), tested.adjusted.reshape(len(blocks), count)
    results = []
    for block, p in zip(blocks, adjusted, strict=True):
        level, values = levels(block), pseudo_values(block)
        apart = (values[:, 1:] - values[:, :1]) * block.scale
        sums = resampled(exact(apart), SEED) / len(apart)
        low, high = np.quantile(sums, (ALPHA / 2, 1 - ALPHA / 2), axis=0)
        error = apart.std(axis=0, ddof=1) / math.sqrt(len(apart)) if len(apart) > 1 else np.zeros(count)
        means = level[1:] - level[0]
        columns = (means, low, high, p, means - critical * error)
        results.append([Difference(*row) for row in np.stack(columns, axis=1).tolist()])
    return results


def slice_groups(queries: Queries) -> dict[str, NDArray[np.bool_]]:
    """The queries of each slice, by its name: bool[Q]."""
    names = sorted({name for of_query in queries.slices for name in of_query})
    return {name: np.array([name in of_query for of_query in queries.slices]) for name in names}


def means_of_groups(
    scores: Scores, groups: Mapping[str, NDArray[np.bool_]]
) -> Iterator[tuple[str, float, int]]:
    """The name of each group, the first column's mean over its scored queries, and their number. `groups` has
    for each name bool[Q]: which queries belong. A group without a scored query is left out."""
    for name, members in groups.items():
        chosen = members[scores.queries]
        if chosen.any():
            yield name, mean(scores.columns[0], chosen), int(chosen.sum())


def system_means_of_groups(
    data: AnalysisInput, groups: Mapping[str, NDArray[np.bool_]]
) -> Iterator[tuple[str, str, float, int]]:
    """For each system and each group: the names of the system and of the group, the system's mean in the
    first column over the group's scored queries, and the number of these queries. Systems that rank another
    unit than the column are left out."""
    column = data.columns[0]
    for system in data.systems:
        if system.unit == column.unit:
            for name, value, count in means_of_groups(data.scores(system.hits, (column,)), groups):
                yield system.name, name, value, count
