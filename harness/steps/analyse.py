"""The step that runs an analysis over the systems that have hits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from harness.steps.combine import Combine
from harness.steps.record import UNKEYED, ByMethod, Ref, Uses
from harness.steps.results import Corpus, Findings, Hits, Judgements, Queries
from harness.steps.rules import Rules
from harness.steps.sizes import Amount, Sizes, of_queries
from harness.steps.texts import Encoder, Texts
from harness.types import JSON, ColumnUnit, Unit


class Reporting(Struct, frozen=True, forbid_unknown_fields=True):
    """A step whose method may have reported facts. An analysis reads them, and does not depend on them."""

    kind: str
    method: str
    step: str


class Trained(Struct, frozen=True, forbid_unknown_fields=True):
    """How a model was trained, without the steps that it was trained on."""

    trainer: str
    params: dict[str, JSON]
    settings: dict[str, JSON]  # seed, number of queries, and how negatives are drawn
    negatives: int  # the most negatives of a query in one epoch


class Analysed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A system with hits."""

    name: str
    hits: Ref[Hits]
    texts: Texts  # as its first retriever of passages reads them
    unit: Annotated[Unit, UNKEYED] = "passage"
    context: Annotated[tuple[str, ...], UNKEYED] = ()  # the stages of context, for people
    retriever: Annotated[str | None, UNKEYED] = None  # equal for equal retrievers; None: it has several
    reporting: Annotated[tuple[Reporting, ...], UNKEYED] = ()
    # the following follow from the hits
    reranks: Annotated[bool, UNKEYED] = False
    trained: Annotated[Trained | None, UNKEYED] = None  # of a model of its last method that has a made one
    search: Annotated[dict[str, JSON] | None, UNKEYED] = None  # the parameters, if a retriever found the hits
    combine: Annotated[Combine | None, UNKEYED] = None  # given if another value can be tried


class Column(Struct, frozen=True, forbid_unknown_fields=True):
    measure: str
    unit: ColumnUnit


class Analyse(ByMethod[Findings], frozen=True, kw_only=True, tag="analyse"):
    systems: tuple[Analysed, ...]
    columns: tuple[Column, ...]
    measures: dict[str, Uses] = {}  # of plugins, by name
    dataset: str
    notes: tuple[str, ...]
    language: str | None
    rules: Rules
    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]
    judgements_of: dict[str, Ref[Judgements]] = {}  # of further datasets
    queries_of: dict[str, Ref[Queries]] = {}  # of further splits
    encoder: Encoder | None = None

    def amount(self, sizes: Sizes) -> Amount | None:
        return of_queries(sizes.queries.get(self.queries.step), max(1, len(self.systems)))
