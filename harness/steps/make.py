"""The steps of a made dataset: a stage changes some parts, and each changed part is a step of its own."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from harness.steps.record import IF_GIVEN, UNKEYED, ByMethod, Record, Ref
from harness.steps.results import Changed, Corpus, Hits, Judgements, Queries
from harness.steps.sizes import Amount, Sizes
from harness.steps.texts import Encoder
from harness.types import Part


class Parts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parts of a collection that a stage reads, and what is known of the collection."""

    corpus: Ref[Corpus] | None = None
    queries: Ref[Queries] | None = None
    judgements: Ref[Judgements] | None = None
    language: str | None
    query_language: str | None
    split: str

    def of(self, part: Part) -> Ref[Any] | None:
        ref: Ref[Any] | None = getattr(self, part)
        return ref


class Origin(Struct, frozen=True, forbid_unknown_fields=True):
    """The dataset that is made, and where its source is from."""

    dataset: str
    licence: str
    citation: str
    url: str


class Make(ByMethod[Changed], frozen=True, kw_only=True, tag="make"):
    """One stage. Its artifact has a folder for each part that it changes."""

    is_apart = True

    reads: Parts
    runs: dict[str, Ref[Hits]] = {}  # by system
    others: dict[str, Parts] = {}  # further datasets or splits, by name
    encoder: Encoder | None = None
    scorer: Annotated[Encoder | None, IF_GIVEN] = None  # the re-ranker that scores pairs of texts
    written: Origin | None = None  # given if the stage writes files that name their source
    origin: Annotated[Origin | None, UNKEYED] = None

    def amount(self, sizes: Sizes) -> Amount | None:
        parts = (self.reads, *self.others.values())
        corpora = {part.corpus.step for part in parts if part.corpus is not None}
        queries = {part.queries.step for part in parts if part.queries is not None}
        passages = [sizes.corpora[step].passages for step in sorted(corpora) if step in sizes.corpora]
        asked = [sizes.queries[step] for step in sorted(queries) if step in sizes.queries]
        return (float(sum(passages)), float(sum(asked))) if passages or asked else None


class MadePart(Record[Any], frozen=True, kw_only=True, tag="made"):
    """A part that a stage has changed, as other datasets have it. Its files are links."""

    stage: Ref[Changed]
    part: Part

    def amount(self, sizes: Sizes) -> Amount | None:
        return (1.0,)
