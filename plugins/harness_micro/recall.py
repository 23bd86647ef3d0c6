"""The two kernels of micro-averaged recall; their numerators and denominators are added up over queries.

T2Ranking (Xie et al. 2023) reports Recall@50 and Recall@1K this way. Its script reads only queries that
stand in both the run and the judgements, so a system gains by leaving out hard queries: `all_judged` keeps
those in the denominator, `answered` does as the script does. They agree on a run that answers all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.scoring.measures import FILL
from harness.scoring.measures.ideal import Ideal, relevant

if TYPE_CHECKING:
    from numpy.typing import NDArray


def all_judged(
    grades: NDArray[np.int32], ideal: Ideal, rel: int, cutoff: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Relevant passages within the cut-off; all that are relevant."""
    found = np.count_nonzero(grades[:, :cutoff] >= rel, axis=1)
    return found.astype(np.float64), relevant(ideal, rel)


def answered(
    grades: NDArray[np.int32], ideal: Ideal, rel: int, cutoff: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same, with nothing in the denominator for a query that the run lacks."""
    found, wanted = all_judged(grades, ideal, rel, cutoff)
    return found, np.where((grades[:, :1] != FILL).any(axis=1), wanted, 0.0)
