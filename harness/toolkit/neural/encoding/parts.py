"""What the encoding loop asks of a model and of a file: a forward pass over a batch, a shard to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.toolkit.neural.tokens import Tokens
    from harness.types import Ints


class Forward(Protocol):
    """One pass of a model over some texts. Runs on one thread: a loop has one `Forward` for each worker, and
    what it returns must not depend on which of them ran it."""

    def __call__(self, batch: Tokens) -> Sequence[Any]:
        """One row for each text of the batch, in order: float32[n, d], or a list of whatever a text becomes
        (a matrix of token vectors, a sparse row)."""
        ...


class Shard(NamedTuple):
    """A fixed range of texts, encoded."""

    number: int
    first: int  # counts texts, as `Texts.batches` does
    positions: Ints  # int64[n]: what `Texts` calls them
    rows: Sequence[Any]  # n rows, in the order of the texts


Write: TypeAlias = Callable[[Shard], None]
"""Puts a shard on disk; returns when it would outlive the machine's stopping (see `harness.store.disk`)."""


def lengths(tokens: Tokens) -> NDArray[np.int64]:
    """How many tokens each text has: int64[n]."""
    return np.diff(tokens.bounds)
