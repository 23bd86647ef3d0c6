"""The combiners `convex` and `rrf`: one ranking of several, by their scores or by their ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from harness import records
from harness.hookspecs import hookimpl
from harness.records import param


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
        "the least and greatest score of a document input: code takes them after its scores are spread to "
        "the candidates and divides by at least 1e-4, paper takes them from its own list",
    )

    def __post_init__(self) -> None:
        if not self.weights:
            return
        if not all(0 <= weight <= 1 for weight in self.weights):  # a NaN is not in the range either
            raise ValueError("weights: each must be between 0 and 1")
        if not math.isclose(math.fsum(self.weights), 1, abs_tol=1e-6):
            raise ValueError(f"weights: they must sum to 1, and sum to {math.fsum(self.weights):g}")


@dataclass(frozen=True)
class ReciprocalParams:
    k: float = param(60.0, "added to every rank; the higher, the less the first ranks stand out", minimum=0)
    candidates: Literal["first", "union"] = param(
        "union", "what is ranked: the passages of the first input that ranks passages, or those of all inputs"
    )


def build_convex(params: ConvexParams) -> Any:
    from harness_fusion.methods import Convex

    return Convex(params.weight, params.weights, params.candidates, params.form)


def build_reciprocal(params: ReciprocalParams) -> Any:
    from harness_fusion.methods import ReciprocalRank

    return ReciprocalRank(params.k, params.candidates)


@hookimpl
def harness_combiners() -> Iterable[records.Combiner]:
    yield records.Combiner(
        name="convex",
        summary="The weighted sum of min-max normalised scores (DAPR 4.2.1, rank fusion)",
        build=build_convex,
        params=ConvexParams,
    )
    yield records.Combiner(
        name="rrf",
        summary="Reciprocal rank fusion (Cormack et al. 2009): the sum of 1 / (k + rank)",
        build=build_reciprocal,
        params=ReciprocalParams,
    )
