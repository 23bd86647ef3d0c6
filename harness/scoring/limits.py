"""The types `Limits` and `Scored`, in a module of their own that is cheap to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

Count: TypeAlias = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True)
class Limits:
    """The mean of one column under other conditions, and the share of judged results."""

    ceiling: float  # with the best possible ranking
    candidates: float | None  # with the best order of the hits that a re-ranker was given
    judged: float  # the share of judged results among the results that the column reads
    unjudged_removed: float  # without the unjudged results
    unjudged_relevant: float  # with all unjudged results relevant
    without_positive_left_out: float | None  # over queries with a positive; None: there are none
    unanswered_left_out: float | None  # over queries with results; None: there are none


class Scored(Struct, frozen=True):
    """What the means of a row are over. All fields are missing if nothing was scored here."""

    queries: Count | UnsetType = UNSET  # all queries with a judgement
    unanswered: Count | UnsetType = UNSET  # how many of them have no hits
    without_positive: Mapping[str, Count] | UnsetType = UNSET  # column -> how many have no positive
    missing: Count | UnsetType = UNSET  # the number of judgements of passages that the corpus lacks
    ties: Count | UnsetType = UNSET  # the number of neighbours in the rankings with equal scores
