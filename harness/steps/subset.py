"""The step that writes a corpus with fewer candidates: the top of a run, and the judged passages."""

from __future__ import annotations

from harness.steps.record import Record, Ref
from harness.steps.results import Corpus, Hits, Judgements, Queries
from harness.steps.sizes import Amount, Sizes


class Subset(Record[Corpus], frozen=True, kw_only=True, tag="subset"):
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]
    hits: Ref[Hits]
    depth: int

    def amount(self, sizes: Sizes) -> Amount | None:
        return (1.0,)
