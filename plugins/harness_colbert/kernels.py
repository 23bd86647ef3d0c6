"""Compiled loops over token similarities: the best of each text for each query vector, summed."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray


@nb.njit(nogil=True, cache=True)
def sum_of_best(
    similar: NDArray[np.float32],  # float32[t, Q * L]: every token against every query vector
    bounds: NDArray[np.int64],  # int64[n + 1]: text i has the tokens bounds[i] - bounds[0] and on
    length: int,  # L
    scores: NDArray[np.float32],  # float32[Q, n]: out
) -> None:
    """s(q, d) = sum over i of max over j of E_qi . E_dj (Khattab and Zaharia 2020, equation 3)."""
    columns = similar.shape[1]
    best = np.empty(columns, np.float32)
    for text in range(len(bounds) - 1):
        begin, end = bounds[text] - bounds[0], bounds[text + 1] - bounds[0]
        best[:] = -np.inf
        for token in range(begin, end):
            for c in range(columns):  # in the form that LLVM makes into vectors
                value = similar[token, c]
                best[c] = value if value > best[c] else best[c]
        for q in range(columns // length):
            total = np.float32(0)
            for c in range(q * length, (q + 1) * length):
                total += best[c]
            scores[q, text] = total
