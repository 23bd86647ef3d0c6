"""Fuses the values that inputs give to a candidate by a rule: CombSUM and its family, ranks and votes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from harness.plugin import Hits, NoParams, Structure
from harness_fusion.normalising import NORMALISATIONS
from harness_fusion.rows import Candidates, checked_weights, fused, scores_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]
    # float64[n, inputs] -> float64[n], with NaN where an input lacks the candidate
    Rule: TypeAlias = Callable[[Doubles], Doubles]


def _sum(values: Doubles) -> Doubles:
    return np.asarray(np.nansum(values, axis=1))


def _count(values: Doubles) -> Doubles:
    """The number of inputs that found each candidate, which is at least one."""
    return np.asarray(np.count_nonzero(~np.isnan(values), axis=1), np.float64)


def _median(values: Doubles) -> Doubles:
    """The median of each row without its NaN. np.nanmedian takes several times as long on rows of a few
    values."""
    ordered = np.sort(values, axis=1)  # NaN stands last
    count = np.count_nonzero(~np.isnan(values), axis=1)
    row = np.arange(len(values))
    return np.asarray((ordered[row, (count - 1) // 2] + ordered[row, count // 2]) / 2)


# Fox and Shaw, "Combination of multiple searches" (TREC-2, 1994), table 1
RULES: dict[str, Rule] = {
    "combsum": _sum,
    "combmnz": lambda values: _sum(values) * _count(values),
    "combanz": lambda values: _sum(values) / _count(values),
    "combmin": lambda values: np.nanmin(values, axis=1),
    "combmax": lambda values: np.nanmax(values, axis=1),
    "combmed": _median,
}


@dataclass(frozen=True)
class ScoreFusion:
    """A combiner with the score s(q, p) = rule over the inputs i of w_i * s^_i(q, p), where s^_i are the
    normalised scores of input i. An input that lacks p takes no part in the rule."""

    rule: str
    normalise: str
    weights: tuple[float, ...]
    candidates: str

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        weights = checked_weights(self.rule, self.weights, len(inputs))

        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            values = np.empty((len(candidates.rows), len(block)))
            for column, (weight, hits) in enumerate(zip(weights, block, strict=True)):
                filled = Hits(hits.passages, np.where(hits.passages >= 0, hits.scores, 0), hits.unit)
                normalised = weight * NORMALISATIONS[self.normalise](filled)
                values[:, column] = scores_at(hits, normalised, candidates, structure)
            return RULES[self.rule](values)

        return fused(inputs, depth, structure, self.candidates, score)


@dataclass(frozen=True)
class InverseSquareRank:
    """A combiner with the score s(q, p) = N(p) * sum of 1 / rank_i(q, p)^2, where N(p) is the number of
    inputs that found p, or the logarithm of that number (Mourão, Martins and Magalhães 2015, ISR and
    logISR)."""

    logarithm: bool
    candidates: str

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            values = _by_rank(block, lambda rank: 1 / rank**2, candidates, structure)
            count = _count(values)
            return _sum(values) * (np.log(count) if self.logarithm else count)

        return fused(inputs, depth, structure, self.candidates, score)


@dataclass(frozen=True)
class Borda:
    """A combiner by Borda's count (Aslam and Montague 2001). Each input gives c points to its first
    candidate, c - 1 to the next and so on, where c is the number of candidates of the query. The candidates
    that the input lacks share the points that are left."""

    params: NoParams

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            count = np.bincount(candidates.rows, minlength=candidates.queries)[:, None]  # int64[Q, 1]
            points = _by_rank(block, lambda rank: count - rank + 1, candidates, structure)
            lengths = np.stack([(hits.passages >= 0).sum(axis=1) for hits in block], axis=1)
            left = (count - lengths + 1) / 2  # float64[Q, inputs]: the mean of the points that are left
            return np.asarray(np.where(np.isnan(points), left[candidates.rows], points).sum(axis=1))

        return fused(inputs, depth, structure, "union", score)


@dataclass(frozen=True)
class Condorcet:
    """A combiner by majority votes (Montague and Aslam 2002). A candidate beats another if more inputs rank
    it higher. The candidates are put in an order in which none is beaten by the next one. Candidates that an
    input lacks rank behind all candidates that it has. The score of a candidate is the number of candidates
    behind it."""

    params: NoParams

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        from harness_fusion.kernels import in_condorcet_order

        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            ranks = np.nan_to_num(_by_rank(block, lambda rank: rank, candidates, structure), nan=np.inf)
            counts = np.bincount(candidates.rows, minlength=candidates.queries)
            return in_condorcet_order(ranks, np.concatenate([[0], np.cumsum(counts)]))

        return fused(inputs, depth, structure, "union", score)


def _by_rank(
    block: Sequence[Hits],
    worth: Callable[[Doubles], Doubles],
    candidates: Candidates,
    structure: Structure,
) -> Doubles:
    """float64[n, inputs]: `worth` of each candidate's rank in each input, NaN if the input lacks it."""
    values = np.empty((len(candidates.rows), len(block)))
    for column, hits in enumerate(block):
        ranks = np.arange(1, hits.passages.shape[1] + 1, dtype=np.float64)
        values_of_input = np.broadcast_to(worth(ranks), hits.passages.shape)
        values[:, column] = scores_at(hits, values_of_input, candidates, structure)
    return values
