"""Combiners that fuse existing rankings: `convex`, `rrf`, CombSUM and its family, and votes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from harness.plugin import Combiner, hookimpl, param


@dataclass(frozen=True)
class ConvexParams:
    weight: float = param(
        0.5, "the weight of the first of two inputs; the second has the rest", minimum=0, maximum=1
    )
    weights: tuple[float, ...] = param(
        (), "one weight for each input, in their order and summing to 1, in the place of weight"
    )
    normalise: Literal["min-max"] = param("min-max", "how the scores of an input become comparable")
    candidates: Literal["first", "union"] = param(
        "first", "what is ranked: the passages of the first input that ranks passages, or those of all inputs"
    )
    form: Literal["code", "paper"] = param(
        "code",
        "how the scores of an input of documents are normalised: code takes the least and "
        "greatest score of the candidates and divides by at least 1e-4, paper takes those of the "
        "input's own list",
    )

    def __post_init__(self) -> None:
        if not self.weights:
            return
        if not all(0 <= weight <= 1 for weight in self.weights):  # also refuses NaN
            raise ValueError("weights: each must be between 0 and 1")
        if not math.isclose(math.fsum(self.weights), 1, abs_tol=1e-6):
            raise ValueError(f"weights: they must sum to 1, and sum to {math.fsum(self.weights):g}")


@dataclass(frozen=True)
class ReciprocalParams:
    k: float = param(60.0, "added to every rank; the higher, the less the first ranks stand out", minimum=0)
    weights: tuple[float, ...] = param((), "one weight for each input, in their order; 1 each if not given")
    candidates: Literal["first", "union"] = param(
        "union", "what is ranked: the passages of the first input that ranks passages, or those of all inputs"
    )


@dataclass(frozen=True)
class ScoreParams:
    normalise: Literal["min-max", "max", "sum", "z-score", "rank", "none"] = param(
        "min-max", "how the scores of an input become comparable"
    )
    weights: tuple[float, ...] = param((), "one weight for each input, in their order; 1 each if not given")
    candidates: Literal["first", "union"] = param(
        "union", "what is ranked: the passages of the first input that ranks passages, or those of all inputs"
    )


@dataclass(frozen=True)
class RankParams:
    candidates: Literal["first", "union"] = param(
        "union", "what is ranked: the passages of the first input that ranks passages, or those of all inputs"
    )


SUMMARIES = {
    "combsum": "The sum of the normalised scores (Fox and Shaw 1994)",
    "combmnz": "The sum of the normalised scores, times the number of inputs that found the passage",
    "combanz": "The mean of the normalised scores over the inputs that found the passage",
    "combmin": "The least of the normalised scores",
    "combmax": "The greatest of the normalised scores",
    "combmed": "The median of the normalised scores",
}


def build_score_fusion(rule: str, params: ScoreParams) -> Any:
    from harness_fusion.family import ScoreFusion

    return ScoreFusion(rule, params.normalise, params.weights, params.candidates)


def build_isr(logarithm: bool, params: RankParams) -> Any:
    from harness_fusion.family import InverseSquareRank

    return InverseSquareRank(logarithm, params.candidates)


@hookimpl
def harness_combiners() -> Iterable[Combiner]:
    yield Combiner(
        name="convex",
        summary="The weighted sum of min-max normalised scores (DAPR 4.2.1, rank fusion)",
        build="harness_fusion.methods:Convex",
        params=ConvexParams,
        learns=("weight",),
    )
    yield Combiner(
        name="rrf",
        paper="https://doi.org/10.1145/1571941.1572114",
        summary="Reciprocal rank fusion (Cormack et al. 2009): the sum of 1 / (k + rank)",
        build="harness_fusion.methods:ReciprocalRank",
        params=ReciprocalParams,
    )
    for rule, summary in SUMMARIES.items():
        yield Combiner(
            name=rule, summary=summary, build=partial(build_score_fusion, rule), params=ScoreParams
        )
    yield Combiner(
        name="isr",
        summary="The sum of 1 / rank^2, times the number of inputs with the passage (Mourão et al. 2015)",
        build=partial(build_isr, False),
        params=RankParams,
    )
    yield Combiner(
        name="log-isr",
        summary="The sum of 1 / rank^2, times the logarithm of the number of inputs with the passage",
        build=partial(build_isr, True),
        params=RankParams,
    )
    yield Combiner(
        name="borda",
        summary="Borda's count: points for the place in each input (Aslam and Montague 2001)",
        build="harness_fusion.family:Borda",
    )
    yield Combiner(
        name="condorcet",
        summary="Majority votes between passages (Montague and Aslam 2002)",
        build="harness_fusion.family:Condorcet",
    )
