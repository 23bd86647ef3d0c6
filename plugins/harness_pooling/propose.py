"""The maker `propose`: turns the pairs of a pool into judgements of grade 0, for another maker to label."""

from __future__ import annotations

from collections.abc import Iterator

from harness.plugin import Judgement, Made, MakerInput
from harness_pooling import PoolParams
from harness_pooling.pool import pooled_pairs


class Propose:
    def __init__(self, params: PoolParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        return Made(judgements=self._judgements(data))

    def _judgements(self, data: MakerInput) -> Iterator[Judgement]:
        """The judgements of the collection, then a judgement of grade 0 for each pair that is not judged."""
        yield from data.judged()
        pooled, grades = pooled_pairs(data, self._params)
        names = data.corpus.ids(pooled.passage)
        for query, passage, grade in zip(pooled.query.tolist(), names, grades, strict=True):
            if grade is None:
                data.tally.add("pairs that were not judged")
                yield Judgement(data.queries.ids[query], passage, 0)
