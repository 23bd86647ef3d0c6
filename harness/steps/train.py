"""The step that does one segment of a training."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from harness.steps.record import UNKEYED, Backbone, ByMethod, Ref
from harness.steps.results import Corpus, Lists, Queries, Weights
from harness.steps.sizes import Amount, Sizes


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """The training data of one split."""

    examples: Ref[Lists]
    queries: Ref[Queries]
    corpus: Ref[Corpus]


class Train(ByMethod[Weights], frozen=True, kw_only=True, tag="train"):
    is_apart = True

    sources: tuple[Source, ...]
    seed: int
    segment: int
    segments: int
    before: Ref[Weights] | None = None
    take: int  # the largest number of negatives of a query in one epoch
    draw: Literal["sample", "stride"]
    share: float  # the share of the negatives from before any was removed by its score
    apart: bool  # whether these stand in lists of their own
    queries: int | None  # how many queries are drawn; None: all
    backbone: Annotated[Backbone | None, UNKEYED] = None  # None: the model's name on the hub is enough
    recipe: Annotated[str, UNKEYED] = ""  # the model's name in the suite

    def amount(self, sizes: Sizes) -> Amount | None:
        """The texts that are read in one epoch: a query, a positive and its negatives for each example. The
        epochs are among the trainer's parameters."""
        known = [sizes.queries.get(source.examples.step) for source in self.sources]
        lists = sum(count for count in known if count is not None)
        if None in known:
            return None
        lists = lists if self.queries is None else min(lists, self.queries)
        return (lists * (2.0 + self.take) / self.segments,)
