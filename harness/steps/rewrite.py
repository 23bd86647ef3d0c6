"""The step that rewrites queries before a retriever searches for them."""

from __future__ import annotations

from typing import Annotated

from harness.steps import results
from harness.steps.record import UNKEYED, ByMethod, Ref
from harness.steps.results import Hits, Index, Queries
from harness.steps.sizes import Amount, Counts, Sizes, of_queries
from harness.steps.texts import IndexedRetriever, Texts
from harness.types import Form


class Rewrite(ByMethod[results.Rewritten], frozen=True, kw_only=True, tag="rewrite"):
    counts_as = "rewrite"

    texts: Texts
    queries: Ref[Queries]
    before: Ref[results.Rewritten] | None = None  # the queries as the rewriter before this one left them
    index: Ref[Index] | None = None  # the rewriter's own
    searcher: IndexedRetriever | None = (
        None  # given if the rewriter asks the retriever for its terms or vectors
    )
    feedback: int = 0  # how many hits of each query the rewriter reads
    hits: Ref[Hits] | None = None  # given if it reads any
    gives: Annotated[Form, UNKEYED] = "text"

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step))

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return of_queries(counts.cost.get("queries"))
