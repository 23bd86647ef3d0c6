"""The step that re-ranks the head of a run."""

from __future__ import annotations

from typing import Literal

from harness.steps.record import ByMethod, Ref
from harness.steps.results import Hits, Index, Queries
from harness.steps.sizes import Amount, Counts, Sizes
from harness.steps.texts import Texts


class Rerank(ByMethod[Hits], frozen=True, kw_only=True, tag="rerank"):
    is_cuttable = True
    counts_as = "rerank"

    below: Ref[Hits]
    texts: Texts
    queries: Ref[Queries]
    index: Ref[Index] | None = None  # the re-ranker's own
    depth: int  # how many hits are re-ranked
    tail: Literal["keep", "drop"]  # what happens to the hits below

    def amount(self, sizes: Sizes) -> Amount | None:
        queries, texts = sizes.queries.get(self.queries.step), self.texts.count(sizes)
        return None if queries is None or texts is None else (float(queries * min(self.depth, texts)),)

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return (float(counts.cost["pairs"]),)
