"""The step that labels the retrieved passages that contain an answer."""

from __future__ import annotations

from harness.steps.record import Record, Ref
from harness.steps.results import Corpus, Hits, Labels, Queries
from harness.steps.sizes import Amount, Sizes, of_queries


class Label(Record[Labels], frozen=True, kw_only=True, tag="label"):
    hits: Ref[Hits]
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    depth: int

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step))
