"""Texts in memory, for a method that reads texts by position but is asked about texts of no corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.composed_texts import document_borders
from harness.types import Batch, Unit, WholeDocument

if TYPE_CHECKING:
    from harness.types import Ints


class HeldTexts:
    """Texts that a re-ranker reads by position; implements `harness.contracts.Texts`. The sequence may
    change between two calls."""

    unit: Unit = "passage"

    def __init__(self, texts: Sequence[str], language: str | None) -> None:
        self._texts, self.language = texts, language

    @property
    def size(self) -> int:
        return len(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        chosen = np.arange(len(self._texts), dtype=np.int64)[start:stop]
        for first in range(0, len(chosen), size):
            positions = chosen[first : first + size]
            yield Batch(positions, self.take(positions), [""] * len(positions))

    def take(self, positions: Ints) -> list[str]:
        return [self._texts[position] for position in np.asarray(positions).tolist()]

    def document_of(self, positions: Ints) -> Ints:
        return np.asarray(positions, np.int64)

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[WholeDocument]:
        for number in range(len(self._texts))[start:stop]:
            position, candidate = np.array([number]), np.ones(1, np.bool_)
            yield WholeDocument(number, "", (), position, candidate, [self._texts[number]])

    def borders(self, size: int) -> Ints:
        return document_borders(np.arange(len(self._texts)), size)

    def ids(self, positions: Ints) -> list[str]:
        return [str(position) for position in np.asarray(positions).tolist()]

    def progress(self, done: int) -> None:
        """Does nothing, because these texts are no step's work."""
