"""The step that searches an index for all queries."""

from __future__ import annotations

from harness.steps.record import ByMethod, Ref
from harness.steps.results import Hits, Index, Queries, Rewritten
from harness.steps.sizes import Amount, Counts, Sizes
from harness.steps.texts import IndexedRetriever, Texts


class Search(ByMethod[Hits], frozen=True, kw_only=True, tag="search"):
    is_cuttable = True
    counts_as = "search"

    texts: Texts
    index: Ref[Index]
    queries: Ref[Queries]
    rewritten: Ref[Rewritten] | None = None
    depth: int

    @property
    def searcher(self) -> IndexedRetriever:
        return IndexedRetriever(
            method=self.method, texts=self.texts, index=self.index, rewritten=self.rewritten
        )

    def amount(self, sizes: Sizes) -> Amount | None:
        queries, texts = sizes.queries.get(self.queries.step), self.texts.count(sizes)
        return None if queries is None or texts is None else (float(queries), queries * texts)

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        texts, queries = sizes.texts.get(self.index.step), float(counts.cost["queries"])
        return None if texts is None else (queries, queries * texts)
