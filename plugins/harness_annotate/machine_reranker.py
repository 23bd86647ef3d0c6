"""A re-ranker as a judge: cuts turn its scores into grades."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Batch, HarnessError, Unit, contracts
from harness_annotate.machines import Asked
from harness_annotate.scheme import Choice


class RerankerJudge:
    """A judge that gives the highest grade whose cut the score reaches, and the lowest grade below all
    cuts."""

    def __init__(
        self, method: contracts.Judge, language: str | None, levels: Sequence[int], cuts: Sequence[float]
    ) -> None:
        self._method, self._language = method, language
        self._levels, self._cuts = levels, cuts

    def grade(self, pairs: Sequence[Asked]) -> list[tuple[Choice, float | None]]:
        scorer = self._method.open(_Texts([pair.passage for pair in pairs], self._language), None)
        positions = np.arange(len(pairs), dtype=np.int64)[:, np.newaxis]  # int64[n, 1]
        scores = np.asarray(scorer.score([pair.query for pair in pairs], positions)).reshape(-1)
        if len(scores) != len(pairs) or not np.isfinite(scores).all():
            raise HarnessError("--grade-by: the re-ranker gave no finite score for a pair; use another")
        return [
            (Choice(self._levels[bisect_right(self._cuts, float(score))]), float(score)) for score in scores
        ]

    def close(self) -> None:
        """Does nothing, because nothing is held open."""


class _Texts:
    """The passages of a batch as a corpus; implements `harness.contracts.Texts`."""

    def __init__(self, texts: Sequence[str], language: str | None) -> None:
        self._texts, self._language = texts, language

    @property
    def language(self) -> str | None:
        return self._language

    @property
    def unit(self) -> Unit:
        return "passage"

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

    def take(self, positions: NDArray[np.int64]) -> list[str]:
        return [self._texts[position] for position in np.asarray(positions).tolist()]

    def ids(self, positions: NDArray[np.int64]) -> list[str]:
        return [str(position) for position in np.asarray(positions).tolist()]

    def progress(self, done: int) -> None:
        """Does nothing, because a batch is small."""
