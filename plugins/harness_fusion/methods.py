"""The combiners `convex` and `rrf`: the score of a candidate in each input, and the sum over inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from harness.plugin import JSON, Asked, HarnessError, Hits, Structure
from harness_fusion import ConvexParams, ReciprocalParams, learned
from harness_fusion.rows import Candidates, checked_weights, fused, scores_at, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles: TypeAlias = NDArray[np.float64]

FLOOR = 1e-4  # the least divisor of DAPR's released code


@dataclass(frozen=True)
class Convex:
    """A combiner with the score s(q, p) = sum of w_i * s^_i(q, p), where s^_i is the min-max normalised score
    in input i, 0 if the input lacks p (DAPR, section 4.2.1 and equation 1)."""

    params: ConvexParams

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        weights = self._weights(len(inputs))

        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            total = np.zeros(len(candidates.rows))
            for weight, hits in zip(weights, block, strict=True):
                total += weight * _normalised(hits, candidates, structure, self.params.form)
            return total

        return fused(inputs, depth, structure, self.params.candidates, score)

    def features(self, inputs: Sequence[Hits], structure: Structure, asked: Asked) -> Doubles:
        return learned.features(inputs, structure, asked)

    def learn(self, features: Doubles, values: Doubles, scores: Doubles) -> dict[str, JSON]:
        return learned.learn(features, values, scores)

    def predict(self, features: Doubles, model: Mapping[str, JSON]) -> Doubles:
        return learned.predict(features, model)

    def _weights(self, inputs: int) -> tuple[float, ...]:
        if not self.params.weights and inputs == 2:
            return self.params.weight, 1 - self.params.weight
        if len(self.params.weights) != inputs:
            raise HarnessError(
                f"convex.weights: {len(self.params.weights)} weights for {inputs} inputs; give one for each"
            )
        return self.params.weights


@dataclass(frozen=True)
class ReciprocalRank:
    """A combiner with the score s(q, p) = sum of w_i / (k + rank_i(q, p)), with ranks from 1. An input that
    lacks p adds nothing. In an input of documents, all passages of a document have the document's rank."""

    params: ReciprocalParams

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        weights = checked_weights("rrf", self.params.weights, len(inputs))

        def score(block: Sequence[Hits], candidates: Candidates) -> Doubles:
            total = np.zeros(len(candidates.rows))
            for weight, hits in zip(weights, block, strict=True):
                ranks = np.arange(1, hits.passages.shape[1] + 1, dtype=np.float64)
                worth = np.broadcast_to(weight / (self.params.k + ranks), hits.passages.shape)
                total += np.nan_to_num(scores_at(hits, worth, candidates, structure), nan=0.0)
            return total

        return fused(inputs, depth, structure, self.params.candidates, score)


def _normalised(hits: Hits, candidates: Candidates, structure: Structure, form: str) -> Doubles:
    """float64[n]: the normalised score s^ = (s - m_q) / (M_q - m_q) of each candidate, or 0 if the input
    lacks the candidate.

    m_q and M_q are the least and greatest score of a query. With `form` "paper" they come from the input's
    own list. With "code" this also holds for an input of passages; for an input of documents they come from
    the scores that the candidates get from their documents. If M_q = m_q, equation 1 is undefined and the
    result is 0."""
    scores = scores_at(hits, hits.scores.astype(np.float64), candidates, structure)
    if form == "code" and spread(hits, candidates):
        least, greatest = _range_of_found(scores, candidates)
    else:
        least, greatest = _range_of_list(hits)
    width = greatest - least
    divisor = np.maximum(width, FLOOR) if form == "code" else np.where(width > 0, width, 1.0)
    result = (scores - least[candidates.rows]) / divisor[candidates.rows]
    return np.nan_to_num(result, nan=0.0)


def _range_of_list(hits: Hits) -> tuple[Doubles, Doubles]:
    """The least and greatest score of each row, float64[Q]; 0 for a row without a hit."""
    filled = hits.passages >= 0
    scores = hits.scores.astype(np.float64)
    least = np.where(filled, scores, np.inf).min(axis=1, initial=np.inf)
    greatest = np.where(filled, scores, -np.inf).max(axis=1, initial=-np.inf)
    empty = ~filled.any(axis=1)
    return np.where(empty, 0.0, least), np.where(empty, 0.0, greatest)


def _range_of_found(scores: Doubles, candidates: Candidates) -> tuple[Doubles, Doubles]:
    """The least and greatest score among the candidates of each query, float64[Q]; 0 for a query without a
    scored candidate. NaN stands for a candidate without a score. The candidates of a query are contiguous."""
    least, greatest = np.zeros(candidates.queries), np.zeros(candidates.queries)
    rows, scores = candidates.rows[~np.isnan(scores)], scores[~np.isnan(scores)]
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        least[rows[starts]] = np.minimum.reduceat(scores, starts)
        greatest[rows[starts]] = np.maximum.reduceat(scores, starts)
    return least, greatest
