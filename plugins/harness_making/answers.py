"""The maker `label-by-answers`: a passage with a written answer is a positive (DuReader-retrieval, 2.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.plugin import Ints, Judgement, Made, MakerInput, Query
from harness_making import AnswersParams
from harness_making.spans import Bags, Level, Tokens, labels

BLOCK = 8192  # passages whose texts are in memory at once


class LabelByAnswers:
    def __init__(self, params: AnswersParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        judged = list(self._labelled(data))
        answered = {judgement.query for judgement in judged if judgement.grade > 0}
        kept = {query.id for query in data.asked() if self._stays(data, query, answered)}
        return Made(
            queries=[query for query in data.asked() if query.id in kept],
            judgements=[judgement for judgement in judged if judgement.query in kept],
        )

    def _stays(self, data: MakerInput, query: Query, answered: set[str]) -> bool:
        if query.id in answered or self._params.unlabelled == "keep":
            return True
        why = "without a passage that has an answer" if query.answers else "without an answer"
        data.tally.drop("queries", why, query.text)
        return False

    def _labelled(self, data: MakerInput) -> Iterator[Judgement]:
        """The judgements, query by query, with passages in the order in which they are searched."""
        params = self._params
        known = Tokens(params.unit == "characters")
        level = Level.of(params.tau, params.above == "more")
        queries = data.asked()
        passages = _tried(data) if params.pairs == "judged" else None
        everything = np.arange(data.corpus.passages)
        for number, query in enumerate(queries):
            data.progress(number, len(queries))
            answers = Bags.of([known.numbers(text) for text in query.answers])
            tried = everything if passages is None else passages.get(query.id, everything[:0])
            for low in range(0, len(tried) if query.answers else 0, BLOCK):
                block = tried[low : low + BLOCK]
                texts = Bags.of([known.numbers(text) for text in data.corpus.texts(block)])
                grades = labels(texts, answers, known.size, level)
                data.tally.add("pairs tried", len(block))
                for name, grade in zip(data.corpus.ids(block), grades.astype(int).tolist(), strict=True):
                    if grade or params.negatives == "keep":
                        yield Judgement(query.id, name, grade)


def _tried(data: MakerInput) -> dict[str, Ints]:
    """For each query, the positions of the passages that have a judgement for it."""
    judged = data.judgements
    at = data.corpus.positions(judged.passage_ids)[judged.passage]
    tried: dict[str, Ints] = {}
    order = np.argsort(judged.query, kind="stable")
    starts = np.searchsorted(judged.query[order], np.arange(len(judged.query_ids) + 1))
    for code, name in enumerate(judged.query_ids):
        positions = at[order[starts[code] : starts[code + 1]]]
        tried[name] = positions[positions >= 0]
    return tried
