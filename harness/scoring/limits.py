"""What a column could have reached: the one type of it, in a module that is cheap to import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The mean of one column under other circumstances, and the share of judged results."""

    ceiling: float  # of the best ranking that there is
    candidates: float | None  # of the best order of what a re-ranker was given
    judged: float  # the share of judged results among those that the column reads
    unjudged_removed: float
    unjudged_relevant: float
    without_positive_left_out: float | None  # None if that leaves out all
    unanswered_left_out: float | None
