"""Deals queries out into folds. A set of queries has the same folds on every machine and in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from harness.types import Ints


def folds(ids: Sequence[str], count: int) -> Ints:
    """The fold of each query, int64[Q]. The queries are dealt out in the order of the SHA-256 of their ids,
    so the sizes of the folds differ by one at most."""
    order = sorted(range(len(ids)), key=lambda i: (hashlib.sha256(ids[i].encode()).digest(), ids[i]))
    numbers = np.empty(len(ids), np.int64)
    numbers[order] = np.arange(len(ids)) % count
    return numbers
