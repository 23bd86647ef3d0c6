"""The kernels: every common measure for all queries at once, in trec_eval's arithmetic.

Few ranked passages are relevant, so each kernel first finds those and then works on them alone. Sums run
in the order of ranks, as trec_eval's loops do: the values are equal to the last bit, on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from harness.scoring.measures.ideal import Ideal, per_row, places, relevant
from harness.scoring.measures.names import FILL, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Ints

    Grades: TypeAlias = NDArray[np.int32]  # int32[Q, k]
    Values: TypeAlias = NDArray[np.float64]  # float64[Q]
    Kernel: TypeAlias = Callable[[Grades, Ideal, int, int | None], tuple[Values, Values]]


def reciprocal_rank(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """1 / the rank of the first relevant passage, 0 without one."""
    row, rank = _found(grades[:, :cutoff] >= rel)
    first = places(row) == 0
    return per_row(row[first], len(grades), 1 / (rank[first] + 1.0)), np.ones(len(grades))


def success(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """1 if a relevant passage is within the cut-off."""
    hit = _count(grades[:, :cutoff] >= rel) > 0
    return hit.astype(np.float64), np.ones(len(grades))


def precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Relevant passages within the cut-off / the cut-off, however short the ranking is."""
    depth = grades.shape[1] if cutoff is None else cutoff
    return _share(_count(grades[:, :cutoff] >= rel), np.full(len(grades), float(depth))), np.ones(len(grades))


def recall(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Relevant passages within the cut-off / all that are relevant."""
    return _share(_count(grades[:, :cutoff] >= rel), relevant(ideal, rel)), np.ones(len(grades))


def r_precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Precision at R, the number of relevant passages."""
    wanted = relevant(ideal, rel)
    row, rank = _found(grades >= rel)
    return _share(per_row(row[rank < wanted[row]], len(grades)), wanted), np.ones(len(grades))


def average_precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """The precision at each relevant passage within the cut-off, added up / all that are relevant."""
    row, rank = _found(grades[:, :cutoff] >= rel)
    total = per_row(row, len(grades), (places(row) + 1) / (rank + 1))
    return _share(total, relevant(ideal, rel)), np.ones(len(grades))


def ndcg(
    gain: Callable[[NDArray[np.int32]], NDArray[np.float64]],
    grades: Grades,
    ideal: Ideal,
    rel: int,
    cutoff: int | None,
) -> tuple[Values, Values]:
    """sum of gain / log2(rank + 1) / the same of the ideal ranking (Järvelin and Kekäläinen 2002)."""
    row, rank = _found(grades[:, :cutoff] > FILL)
    dcg = _discounted(row, rank, gain(grades[row, rank]), len(grades))
    best = gain(ideal.grade)
    order = np.lexsort((-best, ideal.row))  # a table of gains may order the grades anew
    row, best = ideal.row[order], best[order]
    rank = places(row)
    within = rank < (len(row) if cutoff is None else cutoff)
    return _share(dcg, _discounted(row[within], rank[within], best[within], len(grades))), np.ones(
        len(grades)
    )


def judged(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Judged passages within the cut-off / the length of the ranking up to there."""
    head = grades[:, :cutoff]
    return _share(_count(head > FILL), _count(head != FILL)), np.ones(len(grades))


def retrieved(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """The length of the ranking."""
    return _count(grades != FILL), np.ones(len(grades))


def relevant_retrieved(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """How many ranked passages are relevant."""
    return _count(grades >= rel), np.ones(len(grades))


def relevant_known(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """How many judged passages are relevant, whatever the run found."""
    return relevant(ideal, rel), np.ones(len(grades))


def queries(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """1 for each query."""
    return np.ones(len(grades)), np.ones(len(grades))


def linear(grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """The grade itself; trec_eval gives nothing for a negative one."""
    return np.maximum(grade, 0).astype(np.float64)


def exponential(grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """2^g - 1 (Burges et al. 2005)."""
    gain: NDArray[np.float64] = np.exp2(linear(grade)) - 1
    return gain


def mapped(gains: Mapping[int, int], grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """The gain that a table gives to a grade, the grade itself where it gives none."""
    gain = linear(grade)
    for level, value in gains.items():
        gain[grade == level] = value
    return gain


KERNELS: dict[str, Kernel] = {
    "AP": average_precision,
    "Judged": judged,
    "NumQ": queries,
    "NumRel": relevant_known,
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "Rprec": r_precision,
    "Success": success,
}


def kernel_of(metric: Metric) -> Kernel:
    """The function that computes a metric whose `kernel` is true."""
    if metric.plugin is not None:
        built: Kernel = metric.plugin.build()
        return built
    if metric.family == "NumRet":
        return relevant_retrieved if "rel" in metric.params else retrieved
    if metric.family == "nDCG":
        return partial(ndcg, gain_of(metric))
    return KERNELS[metric.family]


def gain_of(metric: Metric) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """The gain of an nDCG, as a function of grades."""
    if "gains" in metric.params:
        return partial(mapped, metric.params["gains"])
    return exponential if metric.params.get("dcg") == "exp-log2" else linear


def _found(wanted: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The row and the rank from 0 of each true cell, row by row."""
    row, rank = np.divmod(np.flatnonzero(wanted), max(wanted.shape[1], 1))
    return row, rank


def _count(wanted: NDArray[np.bool_]) -> Values:
    counts: Ints = np.count_nonzero(wanted, axis=1)
    return counts.astype(np.float64)


def _share(part: Values, whole: Values) -> Values:
    """part / whole, 0 where there is no whole."""
    share: Values = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share


def _discounted(row: Ints, rank: Ints, gain: NDArray[np.float64], queries: int) -> Values:
    return per_row(row, queries, gain / np.log2(rank + 2))
