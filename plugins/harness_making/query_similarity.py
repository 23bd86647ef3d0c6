"""The analysis `similar-queries`: the similarity of each query to the nearest query of other splits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.plugin import AnalysisInput, Finding
from harness.toolkit.scoring import system_means_of_groups
from harness_making import SimilarityParams
from harness_making.similar import Nearest, by_characters, by_vectors


class QuerySimilarity:
    def __init__(self, params: SimilarityParams) -> None:
        self._params = params

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        bins = np.array(self._params.bins)
        nearest = self._nearest(data)
        group = np.maximum(np.searchsorted(bins, nearest.similarity, side="right") - 1, 0)
        names = [_name(self._params.bins, number) for number in range(len(bins))]
        counts = np.bincount(group, minlength=len(bins)).tolist()
        others = sum(len(data.queries_of[name].ids) for name in self._params.to)
        what = (
            "pairs of characters"
            if self._params.encoder is None
            else f"vectors of {', '.join(self._params.encoder)}"
        )
        quantiles = np.quantile(nearest.similarity, (0.5, 0.9, 1)) if len(nearest.similarity) else np.zeros(3)
        middle, high, most = (f"{value:.3f}" for value in quantiles.tolist())
        yield Finding(
            name="similar-queries",
            title="Similarity to the nearest query of the other splits",
            kind="bar",
            columns=("similarity", "share", "queries"),
            rows=tuple(
                (name, round(count / max(1, len(group)), 6), count)
                for name, count in zip(names, counts, strict=True)
            ),
            x="similarity",
            y="share",
            says=f"The cosine of each of the {len(group)} queries and the nearest of the {others} queries of "
            f"{', '.join(self._params.to)}, by {what}: median {middle}, 90 % at most {high}, highest {most} "
            "(DuReader-retrieval, section 2.3).",
        )
        column = data.columns[0]
        groups = {name: group == number for number, name in enumerate(names)}
        yield Finding(
            name="scores-by-similarity",
            title=f"{column.label} by similarity to the nearest query of the other splits",
            kind="line",
            columns=("system", "similarity", column.label, "queries"),
            rows=tuple(system_means_of_groups(data, groups)),
            x="similarity",
            y=column.label,
            series="system",
            says="A system that was trained on the other splits and only remembers them is good on similar "
            "queries alone (DuReader-retrieval, table 6).",
        )

    def _nearest(self, data: AnalysisInput) -> Nearest:
        against = [text for name in self._params.to for text in data.queries_of[name].texts]
        if data.encode is None:
            return by_characters(data.queries.texts, against, 1)
        vectors = data.encode(data.queries.texts, True)
        return by_vectors(vectors, data.encode(against, True) if against else vectors[:0], 1)


def _name(bins: tuple[float, ...], number: int) -> str:
    if number + 1 == len(bins):
        return f"from {bins[number]:g}"
    return f"{bins[number]:g} to {bins[number + 1]:g}"
