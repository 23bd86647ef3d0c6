"""The contract of a coreference resolver: from the passages of one document to clusters of mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias


class Mention(NamedTuple):
    """Characters `start:end` of a passage that name something. Mentions sort by their start."""

    passage: int  # counted from 0 in the document
    start: int
    end: int


Cluster: TypeAlias = tuple[Mention, ...]  # mentions of the same thing, in order


class Resolver(Protocol):
    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        """The clusters of one document, each with at least two mentions. The result depends only on these
        passages, not on documents that were resolved before."""
        ...
