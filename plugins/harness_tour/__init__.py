"""The dataset `tour`: documents, queries and judgements, generated from a seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.plugin import Dataset, hookimpl, param

QUERIES_A_DOCUMENT = 5  # one of each slice, in each split
LARGEST = 200_000  # up to this size no two documents share a name


@dataclass(frozen=True)
class TourParams:
    language: Literal["en", "zh"] = param("en", "the language of the passages and of the queries")
    documents: int = param(80, "how many documents, about 16 passages each", minimum=1, maximum=LARGEST)
    seed: int = param(7, "another seed gives another collection of the same kind")
    split: Literal["test", "dev"] = param(
        "test", "the two splits have different queries over the same corpus"
    )
    queries: int | None = param(
        None, "how many queries; null: two for each document, at most 1000", minimum=1
    )

    def __post_init__(self) -> None:
        most = QUERIES_A_DOCUMENT * self.full_documents
        if self.queries is not None and self.queries > most:
            raise ValueError(
                f"{self.documents} documents give at most {most} queries a split, not {self.queries}; "
                "ask for fewer, or for more documents"
            )

    @property
    def full_documents(self) -> int:
        """The number of full documents. Every tenth document is a stub without queries."""
        return self.documents - self.documents // 10


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="tour",
        summary="generated articles whose hard queries need the document around a passage (English, Chinese)",
        build="harness_tour.source:Tour",
        params=TourParams,
    )
