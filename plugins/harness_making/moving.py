"""Moves judgements to the passages that took the place of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.plugin import Judgement, MakerInput


def moved(data: MakerInput, passages: Mapping[str, str], why: str) -> Iterator[Judgement]:
    """The judgements in order. A judgement of a passage that `passages` maps to another passage becomes a
    judgement of that one. If several judgements of a query then have the same passage, they become one, at
    the place of the first, with the highest grade and all labels. The others are counted as dropped, for the
    reason `why`."""
    best: dict[tuple[str, str], Judgement] = {}
    for judgement in data.judged():
        pair = (judgement.query, passages.get(judgement.passage, judgement.passage))
        grade, labels = judgement.grade, judgement.labels
        if pair in best:
            data.tally.drop("judgements", why, f"{judgement.query} {judgement.passage}")
            grade = max(grade, best[pair].grade)
            labels = tuple(dict.fromkeys((*best[pair].labels, *labels)))
        best[pair] = judgement._replace(passage=pair[1], grade=grade, labels=labels)
    yield from best.values()
