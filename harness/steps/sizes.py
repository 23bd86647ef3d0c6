"""The sizes of collections, and the amount of work of a step, which its cost grows with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Amount: TypeAlias = tuple[float, ...]


class CorpusSize(NamedTuple):
    passages: int  # all, of which context is made
    candidates: int  # passages that can be retrieved
    documents: int


class Sizes(NamedTuple):
    """The sizes of the parts of datasets, by the id of the part's step."""

    corpora: Mapping[str, CorpusSize]
    queries: Mapping[str, int]  # of examples too: how many queries have a positive
    texts: Mapping[str, int] = {}  # of finished indexes


class Counts(NamedTuple):
    """What a finished step counted."""

    facts: Mapping[str, Any]
    cost: Mapping[str, Any]


def of_queries(count: int | None, times: float = 1.0) -> Amount | None:
    return None if count is None else (count * times,)
