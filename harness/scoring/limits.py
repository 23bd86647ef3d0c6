"""The type `Limits`, in a module of its own that is cheap to import."""

from __future__ import annotations

from dataclasses import dataclass


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
