"""The two kernels of micro-averaged recall, whose numerators and denominators are summed over queries.

T2Ranking (Xie et al. 2023) reports Recall@50 and Recall@1K this way. Its script reads only queries that
are in both the run and the judgements, so a system gains by leaving out hard queries. `all_judged` keeps all
judged queries in the denominator. `answered` counts like the script. The two agree if the run has every
query.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.plugin import FILL, Ideal
from harness.toolkit.scoring import relevant


def all_judged(
    grades: NDArray[np.int32], ideal: Ideal, rel: int, cutoff: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each query, the numbers of relevant passages within the cut-off, and of all its relevant ones."""
    retrieved = np.count_nonzero(grades[:, :cutoff] >= rel, axis=1)
    return retrieved.astype(np.float64), relevant(ideal, rel)


def answered(
    grades: NDArray[np.int32], ideal: Ideal, rel: int, cutoff: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same as `all_judged`, except that a query that the run lacks adds nothing to the denominator."""
    retrieved, wanted = all_judged(grades, ideal, rel, cutoff)
    return retrieved, np.where((grades[:, :1] != FILL).any(axis=1), wanted, 0.0)
