"""The steps that make one ranking of several."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from harness.steps.record import IF_GIVEN, ByMethod, Record, Ref, Result
from harness.steps.results import Choice, Corpus, Hits, Queries
from harness.steps.sizes import Amount, Counts, Sizes, of_queries
from harness.steps.texts import IndexedRetriever
from harness.types import Unit


class Within(Struct, frozen=True, forbid_unknown_fields=True):
    """An input whose retriever scores further passages for the combiner."""

    input: int
    searcher: IndexedRetriever


class Tuned(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter whose value a tuning step finds, one value for each fold if there are folds."""

    parameter: str
    choice: Ref[Choice]


class Learned(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter has a value for each query, predicted from the hits, the query and its terms."""

    terms: IndexedRetriever | None  # the first input whose retriever has terms


class Mixing(ByMethod[Result], frozen=True, kw_only=True):
    """A step that combines the hits of several systems."""

    hits: tuple[Ref[Hits], ...]
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    depth: int
    unit: Unit
    within: tuple[Within, ...] = ()
    learned: Annotated[Learned | None, IF_GIVEN] = None


class Combine(Mixing[Hits], frozen=True, kw_only=True, tag="combine"):
    counts_as = "combine"

    tuned: Tuned | None = None

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step))

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return of_queries(counts.cost.get("queries"))


class Pick(Record[Hits], frozen=True, kw_only=True, tag="pick"):
    """The hits of each query from the trial that was best on the queries of the other folds."""

    counts_as = "combine"

    trials: tuple[Ref[Hits], ...]
    choice: Ref[Choice]
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    unit: Unit

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step))

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return of_queries(counts.cost.get("queries"))
