"""Moves judgements to the passages that took the place of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.collection.maker_input import MakerInput
from harness.types import Judgement


def moved(given: MakerInput, passages: Mapping[str, str], why: str) -> Iterator[Judgement]:
    """The judgements in order, each of the passage that `passages` names for its own, if it names one.
    Judgements of a query that meet on one passage become one: the first, with the highest grade and all
    labels. The others are counted as dropped, for the reason `why`."""
    best: dict[tuple[str, str], Judgement] = {}
    for judgement in given.judged():
        pair = (judgement.query, passages.get(judgement.passage, judgement.passage))
        grade, labels = judgement.grade, judgement.labels
        if pair in best:
            given.tally.drop("judgements", why, f"{judgement.query} {judgement.passage}")
            grade = max(grade, best[pair].grade)
            labels = tuple(dict.fromkeys((*best[pair].labels, *labels)))
        best[pair] = judgement._replace(passage=pair[1], grade=grade, labels=labels)
    yield from best.values()
