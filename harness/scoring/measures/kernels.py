"""The kernels: each computes one common measure for all queries at once, in trec_eval's arithmetic.

Few ranked passages are relevant, so each kernel first finds the relevant passages and then works on them
alone. Sums run in the order of ranks, as in trec_eval's loops, so that the values are equal to trec_eval's to
the last bit, on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.scoring.measures.grades import Ideal, per_row, places, relevant
from harness.scoring.measures.names import FILL, Metric
from harness.types import Ints

Grades: TypeAlias = NDArray[np.int32]  # int32[Q, k]
Values: TypeAlias = NDArray[np.float64]  # float64[Q]
Kernel: TypeAlias = Callable[[Grades, Ideal, int, int | None], tuple[Values, Values]]


def reciprocal_rank(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """RR: 1 / the rank of the first relevant passage within the cut-off, or 0 if there is none."""
    row, rank = _true_cells(grades[:, :cutoff] >= rel)
    first = places(row) == 0
    return per_row(row[first], len(grades), 1 / (rank[first] + 1.0)), np.ones(len(grades))


def success(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Success: 1 if a relevant passage is within the cut-off, else 0."""
    hit = _count(grades[:, :cutoff] >= rel) > 0
    return hit.astype(np.float64), np.ones(len(grades))


def precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """P: the number of relevant passages within the cut-off / the cut-off, even for a shorter ranking."""
    depth = grades.shape[1] if cutoff is None else cutoff
    return _share(_count(grades[:, :cutoff] >= rel), np.full(len(grades), float(depth))), np.ones(len(grades))


def recall(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """R: the number of relevant passages within the cut-off / the number of all relevant passages."""
    return _share(_count(grades[:, :cutoff] >= rel), relevant(ideal, rel)), np.ones(len(grades))


def r_precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Rprec: the precision within the first R ranks, where R is the number of all relevant passages."""
    wanted = relevant(ideal, rel)
    row, rank = _true_cells(grades >= rel)
    return _share(per_row(row[rank < wanted[row]], len(grades)), wanted), np.ones(len(grades))


def average_precision(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """AP: the sum of the precisions at each relevant passage within the cut-off / all relevant passages."""
    row, rank = _true_cells(grades[:, :cutoff] >= rel)
    total = per_row(row, len(grades), (places(row) + 1) / (rank + 1))
    return _share(total, relevant(ideal, rel)), np.ones(len(grades))


def ndcg(
    gain: Callable[[NDArray[np.int32]], NDArray[np.float64]],
    grades: Grades,
    ideal: Ideal,
    rel: int,
    cutoff: int | None,
) -> tuple[Values, Values]:
    """nDCG: the sum of gain / log2(rank + 1) within the cut-off, divided by the same sum of the ideal ranking
    (Järvelin and Kekäläinen 2002)."""
    row, rank = _true_cells(grades[:, :cutoff] > FILL)
    dcg = _discounted(row, rank, gain(grades[row, rank]), len(grades))
    best = gain(ideal.grade)
    order = np.lexsort((-best, ideal.row))  # a table of gains may order grades differently
    row, best = ideal.row[order], best[order]
    rank = places(row)
    within = rank < (len(row) if cutoff is None else cutoff)
    return _share(dcg, _discounted(row[within], rank[within], best[within], len(grades))), np.ones(
        len(grades)
    )


def judged(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """Judged: the number of judged passages within the cut-off / the number of passages within the
    cut-off."""
    head = grades[:, :cutoff]
    return _share(_count(head > FILL), _count(head != FILL)), np.ones(len(grades))


def retrieved(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """NumRet: the length of the ranking."""
    return _count(grades != FILL), np.ones(len(grades))


def relevant_retrieved(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """NumRet(rel): the number of ranked passages that are relevant."""
    return _count(grades >= rel), np.ones(len(grades))


def relevant_known(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """NumRel: the number of judged passages that are relevant, found or not."""
    return relevant(ideal, rel), np.ones(len(grades))


def queries(grades: Grades, ideal: Ideal, rel: int, cutoff: int | None) -> tuple[Values, Values]:
    """NumQ: 1 for each query."""
    return np.ones(len(grades)), np.ones(len(grades))


def linear(grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """The linear gain: the grade itself, and 0 for a negative grade, as in trec_eval."""
    return np.maximum(grade, 0).astype(np.float64)


def exponential(grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """The exponential gain: 2^grade - 1 (Burges et al. 2005)."""
    gain: NDArray[np.float64] = np.exp2(linear(grade)) - 1
    return gain


def mapped(gains: Mapping[int, int], grade: NDArray[np.int32]) -> NDArray[np.float64]:
    """The gain by a table from grade to gain. The gain of a grade that is not in the table is the grade
    itself."""
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
    """The kernel of a metric whose field `kernel` is true."""
    if metric.plugin is not None:
        built: Kernel = metric.plugin.build()
        return built
    if metric.family == "NumRet":
        return relevant_retrieved if "rel" in metric.params else retrieved
    if metric.family == "nDCG":
        return partial(ndcg, gain_of(metric))
    return KERNELS[metric.family]


def gain_of(metric: Metric) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """The gain function of an nDCG, from grades to gains."""
    if "gains" in metric.params:
        return partial(mapped, metric.params["gains"])
    return exponential if metric.params.get("dcg") == "exp-log2" else linear


def _true_cells(wanted: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The row and the rank (from 0) of each true cell, row by row."""
    row, rank = np.divmod(np.flatnonzero(wanted), max(wanted.shape[1], 1))
    return row, rank


def _count(wanted: NDArray[np.bool_]) -> Values:
    counts: Ints = np.count_nonzero(wanted, axis=1)
    return counts.astype(np.float64)


def _share(part: Values, whole: Values) -> Values:
    """part / whole, and 0 where whole is 0."""
    share: Values = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share


def _discounted(row: Ints, rank: Ints, gain: NDArray[np.float64], queries: int) -> Values:
    return per_row(row, queries, gain / np.log2(rank + 2))
