"""The types by which a plugin serves the encoding loop: a forward pass, a shard, and a shard's writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.toolkit.neural.tokens import Tokens
    from harness.types import Ints


class Forward(Protocol):
    """One pass of a model over some texts, on one thread. A loop has one `Forward` for each worker; the
    result must not depend on which of them ran."""

    def __call__(self, batch: Tokens) -> Sequence[Any]:
        """One row for each text of the batch, in order: float32[n, d], or a list with any object for each
        text (a matrix of token vectors, a sparse row)."""
        ...


class Shard(NamedTuple):
    """The rows of a fixed range of texts, encoded."""

    number: int
    first: int  # the number of its first text, as `Texts.batches` counts them
    positions: Ints  # int64[n]: the positions of the texts, as `Texts` gives them
    rows: Sequence[Any]  # n rows, in the order of the texts


Write: TypeAlias = Callable[[Shard], None]
"""Puts a shard on disk; returns when it would outlive the machine's stopping (see `harness.store.disk`)."""


def lengths(tokens: Tokens) -> NDArray[np.int64]:
    """int64[n]: how many tokens each text has."""
    return np.diff(tokens.bounds)
