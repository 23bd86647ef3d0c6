"""All kinds of steps, and a record from what a manifest has of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

import msgspec

from harness.steps.analyse import Analyse
from harness.steps.augment import Augment
from harness.steps.combine import Combine, Pick
from harness.steps.examples import Examples
from harness.steps.index import Index
from harness.steps.label import Label
from harness.steps.make import MadePart, Make
from harness.steps.read import ReadCorpus, ReadJudgements, ReadQueries
from harness.steps.record import UNKEYED, AnyRecord, Record
from harness.steps.rerank import Rerank
from harness.steps.rewrite import Rewrite
from harness.steps.search import Search
from harness.steps.subset import Subset
from harness.steps.train import Train
from harness.steps.tune import Trials, Tune
from harness.steps.validate import Validate
from harness.types import JSON, Part

Whole: TypeAlias = (
    ReadCorpus | ReadQueries | ReadJudgements | Subset | Make | MadePart | Augment | Index | Search | Rewrite
    | Combine | Pick | Rerank | Tune | Trials | Label | Examples | Train | Validate | Analyse
)  # fmt: skip


class PartOfStep(Record[None], frozen=True, kw_only=True, tag="part"):
    """What one worker does of a step that several share. Its result is joined with those of the others."""

    of: str  # the id of the whole step
    start: int  # the blocks that this part does
    stop: int
    whole: Annotated[Whole | None, UNKEYED] = None

    @property
    def inputs(self) -> tuple[str, ...]:
        return () if self.whole is None else self.whole.inputs


AnyKind: TypeAlias = Whole | PartOfStep
COLLECTION_PARTS: Final = (ReadCorpus, ReadQueries, ReadJudgements, Subset, MadePart)


def kinds(*records: type[AnyRecord]) -> frozenset[str]:
    """The kinds of these records, as leaderboards and the ids of steps have them."""
    return frozenset(str(record.__struct_config__.tag) for record in records)


def ids_of_part(part: Part, key: str) -> tuple[str, ...]:
    """The ids that the step of a part with this key may have."""
    return f"{part}-{key}", f"{MadePart.__struct_config__.tag}-{key}"


def of_keyed(keyed: Mapping[str, JSON]) -> AnyKind:
    """A record from its keyed fields alone, as a manifest has them. Raises msgspec.ValidationError."""
    record: AnyKind = msgspec.convert(
        {name: value for name, value in keyed.items() if name != "format"}, AnyKind
    )
    if keyed.get("format") != record.format:
        raise msgspec.ValidationError(f"format {keyed.get('format')}, expected {record.format}")
    return record
