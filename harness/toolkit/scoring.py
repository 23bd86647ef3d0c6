"""Numbers of scores for analyses and measures: means, also of groups of queries, and agreement of orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.queries import Queries
from harness.scoring.analysis_input import AnalysisInput
from harness.scoring.bootstrap import Sample, summaries
from harness.scoring.measures.grades import relevant
from harness.scoring.rank_agreement import kendall_tau
from harness.scoring.score import Scores, mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Sample", "kendall_tau", "mean", "means_of_groups", "relevant", "slice_groups", "summaries",
    "system_means_of_groups",
]  # fmt: skip


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
