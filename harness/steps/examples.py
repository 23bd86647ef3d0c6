"""The step that lists the positives of each training query, and the negatives to draw from."""

from __future__ import annotations

from msgspec import Struct

from harness.steps.record import Record, Ref
from harness.steps.results import Corpus, Hits, Judgements, Lists, Queries
from harness.steps.sizes import Amount, Sizes, of_queries


class Mined(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Negatives from the top of a run."""

    hits: Ref[Hits]
    depth: int
    below: float | None  # only those with a lower score
    above: float | None
    positives_above: float | None  # passages with a higher score count as positive
    undenoised: bool  # whether the negatives before any was removed by its score are kept too
    apart: bool  # whether these stand in lists of their own: trusted positives may be among them
    without_answer: bool  # whether passages that contain an answer of the query are left out
    fill: int  # how many negatives each query gets at least, from the whole corpus if need be


class Examples(Record[Lists], frozen=True, kw_only=True, tag="examples"):
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]
    level: int  # the lowest grade of a positive
    negatives: Mined | None = None

    def amount(self, sizes: Sizes) -> Amount | None:
        depth = 1 if self.negatives is None else self.negatives.depth
        return of_queries(sizes.queries.get(self.queries.step), depth)
