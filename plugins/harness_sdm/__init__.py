"""The re-ranker `sdm`: the sequential dependence model, which scores words and adjacent pairs of words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from harness.plugin import Facts, Reranker, hookimpl, param


@dataclass(frozen=True)
class SdmParams:
    terms: float = param(0.85, "the weight of single words", minimum=0)
    ordered: float = param(0.10, "the weight of two neighbouring words in order", minimum=0)
    unordered: float = param(0.05, "the weight of two words near each other in any order", minimum=0)
    window: int = param(8, "the number of words within which two words are near each other", minimum=2)
    mu: float = param(2500.0, "the strength of Dirichlet smoothing", minimum=1)
    analyser: str = param(
        "auto", "the analyser that turns text into terms; auto: the default for the dataset's language"
    )

    def __post_init__(self) -> None:
        if not self.terms + self.ordered + self.unordered > 0:
            raise ValueError("terms, ordered and unordered: one of the weights must be above 0")


def resolve(params: SdmParams, facts: Facts) -> SdmParams:
    """`params` with the analyser of the passages' language in place of `analyser: auto`."""
    from harness.toolkit.text import analysis

    return dataclasses.replace(params, analyser=analysis.resolve(params.analyser, facts.language))


def depends_on(params: SdmParams) -> tuple[tuple[str, str], ...]:
    return (("analysers", params.analyser),)


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield Reranker(
        name="sdm",
        paper="https://doi.org/10.1145/1076034.1076115",
        summary="The sequential dependence model (Metzler and Croft 2005): words, and pairs of them",
        build="harness_sdm.model:Sdm",
        params=SdmParams,
        libraries=("numba",),
        resolve=resolve,
        depends_on=depends_on,
        indexed=True,
        search_only=("terms", "ordered", "unordered", "window", "mu"),
    )
