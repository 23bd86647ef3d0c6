"""A re-ranker as a judge: cuts turn its scores into grades."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from harness.plugin import HarnessError, HeldTexts, contracts
from harness_annotate.machines import Asked
from harness_annotate.scheme import Choice


class RerankerJudge:
    """Gives the highest grade whose cut the score reaches, and the lowest grade below all cuts."""

    def __init__(
        self, method: contracts.Judge, language: str | None, levels: Sequence[int], cuts: Sequence[float]
    ) -> None:
        self._method, self._language = method, language
        self._levels, self._cuts = levels, cuts

    def grade(self, pairs: Sequence[Asked]) -> list[tuple[Choice, float | None]]:
        scorer = self._method.open(HeldTexts([pair.passage for pair in pairs], self._language), None)
        positions = np.arange(len(pairs), dtype=np.int64)[:, np.newaxis]  # int64[n, 1]
        scores = np.asarray(scorer.score([pair.query for pair in pairs], positions)).reshape(-1)
        if len(scores) != len(pairs) or not np.isfinite(scores).all():
            raise HarnessError("--grade-by: the re-ranker gave no finite score for a pair; use another")
        return [
            (Choice(self._levels[bisect_right(self._cuts, float(score))]), float(score)) for score in scores
        ]

    def close(self) -> None:
        """Does nothing, because nothing is held open."""
