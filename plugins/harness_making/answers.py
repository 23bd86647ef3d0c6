"""The maker `label-by-answers`: a passage with a written answer is a positive (DuReader-retrieval, 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.maker_input import MakerInput
from harness.types import Judgement, Made, Query
from harness_making import AnswersParams
from harness_making.spans import Bags, Level, Tokens, labels

if TYPE_CHECKING:
    from harness.types import Ints

BLOCK = 8192  # passages whose texts are in memory at once


class LabelByAnswers:
    def __init__(self, params: AnswersParams) -> None:
        self._params = params

    def make(self, given: MakerInput) -> Made:
        judged = list(self._labelled(given))
        found = {judgement.query for judgement in judged if judgement.grade > 0}
        kept = {query.id for query in given.asked() if self._stays(given, query, found)}
        return Made(
            queries=[query for query in given.asked() if query.id in kept],
            judgements=[judgement for judgement in judged if judgement.query in kept],
        )

    def _stays(self, given: MakerInput, query: Query, found: set[str]) -> bool:
        if query.id in found or self._params.unlabelled == "keep":
            return True
        why = "without a passage that has an answer" if query.answers else "without an answer"
        given.tally.drop("queries", why, query.text)
        return False

    def _labelled(self, given: MakerInput) -> Iterator[Judgement]:
        """The judgements, query by query, with the passages in the order in which they are searched for
        an answer."""
        params = self._params
        known = Tokens(params.unit == "characters")
        level = Level.of(params.tau, params.above == "more")
        queries = given.asked()
        passages = _tried(given, queries) if params.pairs == "judged" else None
        everything = np.arange(given.corpus.passages)
        for number, query in enumerate(queries):
            given.progress(number, len(queries))
            answers = Bags.of([known.numbers(text) for text in query.answers])
            tried = everything if passages is None else passages.get(query.id, everything[:0])
            for low in range(0, len(tried) if query.answers else 0, BLOCK):
                block = tried[low : low + BLOCK]
                texts = Bags.of([known.numbers(text) for text in given.corpus.texts(block)])
                found = labels(texts, answers, known.size, level)
                given.tally.add("pairs tried", len(block))
                for name, grade in zip(given.corpus.ids(block), found.astype(int).tolist(), strict=True):
                    if grade or params.negatives == "keep":
                        yield Judgement(query.id, name, grade)


def _tried(given: MakerInput, queries: Iterable[Query]) -> dict[str, Ints]:
    """For each query, the positions of the passages that have a judgement for it."""
    judged = given.judgements
    at = given.corpus.positions(judged.passage_ids)[judged.passage]
    tried: dict[str, Ints] = {}
    order = np.argsort(judged.query, kind="stable")
    starts = np.searchsorted(judged.query[order], np.arange(len(judged.query_ids) + 1))
    for code, name in enumerate(judged.query_ids):
        positions = at[order[starts[code] : starts[code + 1]]]
        tried[name] = positions[positions >= 0]
    return tried
