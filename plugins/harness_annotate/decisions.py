"""Decides a pair from its votes: by majority, with further votes if there is none, or by dropping it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from harness_annotate.scheme import Choice, Rules, Scheme

Status = Literal["open", "decided", "dropped"]


class Decision(NamedTuple):
    """The decision on a pair so far. `wanted` is the number of votes that it needs, as far as known."""

    status: Status
    choice: Choice | None
    wanted: int
    rule: str


def decide(scheme: Scheme, rules: Rules, votes: Sequence[Choice]) -> Decision:
    """The decision that follows from the votes on a pair. Nothing is decided before there are `rules.votes`
    votes. If they have no majority, further votes are wanted one at a time, at most `rules.more`; if there is
    still no majority, the pair is dropped."""
    if len(votes) < rules.votes:
        return Decision("open", None, rules.votes, "")
    agreed = majority(scheme, votes)
    if agreed is not None:
        same = all(vote == votes[0] for vote in votes)
        rule = "single" if len(votes) == 1 else "unanimous" if same else "majority"
        return Decision("decided", agreed, len(votes), rule)
    if len(votes) < rules.votes + rules.more:
        return Decision("open", None, len(votes) + 1, "")
    return Decision("dropped", None, len(votes), "no majority")


def majority(scheme: Scheme, votes: Sequence[Choice]) -> Choice | None:
    """The choice of the majority, or None. With grades, it is the grade that more people gave than any other
    (and at least two people, if several voted), with the labels of more than half of those who gave it.
    Without grades, it is the labels of more than half of all people."""
    if not scheme.grades:
        kept = _frequent(scheme, votes)
        grades = {vote.grade for vote in votes if kept and set(kept) & set(vote.labels)}
        return Choice(grades.pop(), kept) if len(grades) == 1 else None
    ranked = Counter(vote.grade for vote in votes).most_common()
    best, count = ranked[0]
    if len(votes) > 1 and (count == 1 or (len(ranked) > 1 and ranked[1][1] == count)):
        return None
    return Choice(best, _frequent(scheme, [vote for vote in votes if vote.grade == best]))


def _frequent(scheme: Scheme, votes: Sequence[Choice]) -> tuple[str, ...]:
    counts = Counter(label for vote in votes for label in vote.labels)
    return tuple(item.label for item in scheme.labels if 2 * counts[item.label] > len(votes))
