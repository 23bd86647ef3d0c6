"""The maker `deduplicate-pairs`: keeps one judgement of each cluster of a query's similar passages (Ward)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from harness.plugin import Ints, Judgement, Made, MakerInput
from harness_making import ClusterParams
from harness_making.spans import tokens


class DeduplicatePairs:
    """Keeps the judgement of one passage of each cluster (T2Ranking, 4.3): the passages of a query in one
    cluster are nearly duplicates. The judgements of the others are left out; the corpus does not change."""

    def __init__(self, params: ClusterParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        return Made(judgements=self._judgements(data))

    def _judgements(self, data: MakerInput) -> Iterator[Judgement]:
        judged = data.judgements
        at = data.corpus.positions(judged.passage_ids)[judged.passage]
        rows = list(data.judged())
        by_query: dict[str, list[int]] = {}
        for row, judgement in enumerate(rows):
            by_query.setdefault(judgement.query, []).append(row)
        kept = np.ones(len(rows), np.bool_)
        for number, mine in enumerate(by_query.values()):
            data.progress(number, len(by_query))
            in_corpus = np.array([row for row in mine if at[row] >= 0], np.int64)
            if len(in_corpus) < 2:
                continue
            texts = data.corpus.texts(at[in_corpus])
            vectors = self._vectors(data, texts)
            groups = clusters(vectors, self._params.cut)
            stays = representatives(groups, vectors, texts, self._params.representative)
            kept[in_corpus] = False
            kept[in_corpus[stays]] = True
            data.tally.add("clusters", len(stays))
        for judgement, stays_here in zip(rows, kept.tolist(), strict=True):
            if stays_here:
                yield judgement
            else:
                shown = f"{judgement.query} {judgement.passage}"
                data.tally.drop("judgements", "of a passage in the cluster of another", shown)

    def _vectors(self, data: MakerInput, texts: Sequence[str]) -> NDArray[np.float64]:
        if data.encode is not None:
            return np.asarray(data.encode(texts, False), np.float64)
        return tf_idf(texts, self._params.unit == "characters")


def clusters(vectors: NDArray[np.float64], cut: float) -> Ints:
    """int64[n]: the cluster of each row. Ward's tree (1963, by SciPy) is cut at the distance `cut`."""
    tree = hierarchy.ward(vectors)
    return np.asarray(hierarchy.fcluster(tree, cut, criterion="distance"), np.int64)


def representatives(groups: Ints, vectors: NDArray[np.float64], texts: Sequence[str], how: str) -> Ints:
    """int64[clusters]: the row that represents each cluster, ascending; the first of equal rows."""
    chosen = []
    lengths = np.array([len(text) for text in texts])
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        if how == "longest":
            rows = rows[np.argsort(-lengths[rows], kind="stable")]
        elif how == "central":
            distances = np.linalg.norm(vectors[rows] - vectors[rows].mean(axis=0), axis=1)
            rows = rows[np.argsort(np.round(distances, 9), kind="stable")]
        chosen.append(int(rows[0]))
    return np.array(sorted(chosen), np.int64)


def tf_idf(texts: Sequence[str], characters: bool) -> NDArray[np.float64]:
    """float64[n, terms]: the TF-IDF vectors of the texts, of length 1. The weights are
    tf (ln((1 + n) / (1 + df)) + 1) over these texts. Terms are words, or pairs of characters."""
    numbers: dict[str, int] = {}
    bags = []
    for text in texts:
        units = tokens(text, characters)
        terms = ["".join(units[i : i + 2]) for i in range(max(1, len(units) - 1))] if characters else units
        bags.append([numbers.setdefault(term, len(numbers)) for term in terms])
    counts = np.zeros((len(texts), max(1, len(numbers))))
    for row, bag in enumerate(bags):
        np.add.at(counts[row], bag, 1)
    frequency = np.count_nonzero(counts, axis=0)
    weighted = counts * (np.log((1 + len(texts)) / (1 + frequency)) + 1)
    lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
    rows: NDArray[np.float64] = weighted / np.maximum(lengths, 1e-12)
    return rows
