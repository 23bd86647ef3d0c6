"""The steps that try values of parameters, on another split or across folds of the scored queries."""

from __future__ import annotations

from typing import Annotated

from harness.steps.combine import Mixing
from harness.steps.record import UNKEYED, ByMethod, Ref
from harness.steps.results import Choice, Corpus, Hits, Judgements, Queries
from harness.steps.rules import Measured
from harness.steps.sizes import Amount, Sizes, of_queries
from harness.types import JSON, Unit


class Tune(Mixing[Choice], frozen=True, kw_only=True, tag="tune"):
    """Tries the values of one number of a combiner, which combines again for each value."""

    is_apart = True

    judgements: Ref[Judgements]
    parameter: str
    values: tuple[int | float, ...]  # ascending
    folds: int | None  # None: the split is tuned on as a whole
    measured: Measured
    on: Annotated[str, UNKEYED] = ""  # the split or the folds, for people

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step), max(1, len(set(self.hits))))


class Trials(ByMethod[Choice], frozen=True, kw_only=True, tag="trials"):
    """Compares the hits of a system with each point of the parameters of one of its methods."""

    is_apart = True

    hits: tuple[Ref[Hits], ...]  # of each point
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]
    parameters: tuple[str, ...]
    points: tuple[tuple[JSON, ...], ...]  # a value for each parameter
    folds: int | None
    unit: Unit
    measured: Measured
    on: Annotated[str, UNKEYED] = ""

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step), max(1, len(set(self.hits))))
