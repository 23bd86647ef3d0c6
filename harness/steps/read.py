"""The steps that make a dataset columnar: its corpus, its queries and its judgements."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from harness.steps.record import UNKEYED, ByMethod, Result
from harness.steps.results import Corpus, Judgements, Queries
from harness.types import JSON


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How much of a dataset a trial reads. None is no limit."""

    queries: int | None = None
    passages: int | None = None


class Read(ByMethod[Result], frozen=True, kw_only=True):
    """A step that reads one part of a dataset. The method's own parameters are not keyed; `reads` and `files`
    say what the part is made of."""

    reads: dict[str, JSON]
    files: tuple[dict[str, str], ...]  # the digest of each file, in the order that the dataset gives
    limits: Limits | None = None


class ReadCorpus(Read[Corpus], frozen=True, kw_only=True, tag="corpus"):
    file_bytes: Annotated[int, UNKEYED] = 0


class ReadQueries(Read[Queries], frozen=True, kw_only=True, tag="queries"):
    pass


class ReadJudgements(Read[Judgements], frozen=True, kw_only=True, tag="judgements"):
    pass
