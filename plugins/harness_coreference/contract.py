"""What a resolver of coreferences promises: passages of one document in, clusters of mentions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias


class Mention(NamedTuple):
    """Characters `start:end` of a passage that name something. They sort by where they begin."""

    passage: int  # counted from 0 in the document
    start: int
    end: int


Cluster: TypeAlias = tuple[Mention, ...]  # what names the same thing, in order


class Resolver(Protocol):
    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        """The clusters of one document, each of two mentions or more. The same passages give the same
        clusters, whatever was resolved before."""
        ...
