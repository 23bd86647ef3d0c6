"""The step that measures every checkpoint of a training and names the best one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from harness.steps.record import UNKEYED, Record, Ref
from harness.steps.results import Best, Corpus, Hits, Judgements, Queries, Weights
from harness.steps.rules import Measured
from harness.steps.sizes import Amount, Sizes, of_queries
from harness.types import Unit


class Shortened(Struct, frozen=True, forbid_unknown_fields=True):
    """Which candidates of a corpus were left: the top of a system's run."""

    of: str
    depth: int


class Validate(Record[Best], frozen=True, kw_only=True, tag="validate"):
    is_apart = True

    checkpoints: tuple[Ref[Weights], ...]
    hits: tuple[Ref[Hits], ...]  # with each checkpoint
    whole: tuple[Ref[Hits], ...] = ()  # over the whole corpus, if `hits` are over a part
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]
    measured: Measured
    unit: Unit
    on: Annotated[str, UNKEYED] = ""  # the split, for people
    shortened: Annotated[Shortened | None, UNKEYED] = None
    recipe: Annotated[str, UNKEYED] = ""
    seed: Annotated[int, UNKEYED] = 0

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step), len({*self.hits, *self.whole}))
