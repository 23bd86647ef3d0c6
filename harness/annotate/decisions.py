"""From the votes on a pair to its decision: majority, a further vote where there is none, or dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from harness.annotate.scheme import Choice, Rules, Scheme

Status = Literal["open", "decided", "dropped"]


class Decision(NamedTuple):
    """What became of a pair so far. `wanted` counts the votes that it needs in all, as far as is known."""

    status: Status
    choice: Choice | None
    wanted: int
    rule: str


def decide(scheme: Scheme, rules: Rules, votes: Sequence[Choice]) -> Decision:
    """Nothing is decided before `rules.votes` are in. Where they have no majority, one further vote at a
    time is wanted, `rules.more` at most; without a majority after those the pair is dropped."""
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
    """The grade that more people gave than any other (of several people, two at least), with the labels of
    more than half of those who gave it. Of a scheme without grades: the labels of more than half of all."""
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
