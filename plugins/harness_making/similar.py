"""The maker `drop-similar`: drops queries that resemble those of other splits (DuReader-retrieval, 2.3)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from scipy import sparse

from harness.plugin import Floats, HarnessError, Ints, Made, MakerInput
from harness_making import SimilarParams

BLOCK = 1024  # queries that are compared at once
SIMILAR, OTHER = "similar", "other"  # names of slices


class Nearest(NamedTuple):
    """The most similar other query of each query, and which others are too similar to any of the queries."""

    other: Ints  # int64[n]: the row of the most similar other query; 0 if there are no others
    similarity: Floats  # float32[n]: the similarity to that query, from 0 to 1
    concerned: NDArray[np.bool_]  # bool[others]: whether the other is too similar to any of the queries
    pairs: int  # pairs with a similarity above the threshold
    candidates: Ints  # int64[n, count]: the rows of the most similar other queries, best first


class DropSimilar:
    def __init__(self, params: SimilarParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        params, tally = self._params, data.tally
        others = [(name, query) for name in params.to for query in data.others[name].asked()]
        queries = data.asked()
        texts, against = [query.text for query in queries], [query.text for _, query in others]
        count = 1 if data.score is None else params.candidates
        if data.encode is not None:
            vectors = data.encode(texts, True), data.encode(against, True)
            nearest = by_vectors(*vectors, params.threshold, count)
        else:
            nearest = by_characters(texts, against, params.threshold, count)
        if data.score is not None:
            nearest = by_pairs(data.score, texts, against, nearest.candidates, params.threshold)
            tally.note("pairs compared by the model", nearest.candidates.size)
        similar = nearest.similarity > params.threshold
        (data.folder / "kept").mkdir()
        with (data.folder / "kept" / "similar.jsonl").open("wb") as file:
            for row in np.flatnonzero(similar).tolist():
                name, other = others[int(nearest.other[row])]
                line = {
                    "query": queries[row].id, "text": queries[row].text, "to": name, "other": other.id,
                    "other_text": other.text, "similarity": round(float(nearest.similarity[row]), 4),
                }  # fmt: skip
                file.write(orjson.dumps(line) + b"\n")
                if params.action == "drop":
                    tally.drop("queries", f"similar to one of {name}", f"{queries[row].text} ~ {other.text}")
        tally.note("similar pairs", nearest.pairs)
        tally.note("queries of the others that are concerned", int(nearest.concerned.sum()))
        tally.note("queries of the others", len(others))
        if params.action == "mark":
            marks = [SIMILAR if mark else OTHER for mark in similar.tolist()]
            kept = [
                query._replace(slices=(*query.slices, mark))
                for query, mark in zip(queries, marks, strict=True)
            ]
            return Made(queries=kept, judgements=data.judged())
        kept = [query for query, mark in zip(queries, similar.tolist(), strict=True) if not mark]
        ids = {query.id for query in kept}
        return Made(queries=kept, judgements=(item for item in data.judged() if item.query in ids))


def by_characters(texts: Sequence[str], against: Sequence[str], threshold: float, count: int = 1) -> Nearest:
    """The nearest of `against` for each text. The similarity is the cosine of the counts of pairs of adjacent
    letters and digits."""
    numbers: dict[str, int] = {}
    rows = [_bigrams(text, numbers) for text in (*texts, *against)]
    matrix = _normalised(rows, len(numbers))
    first, second = matrix[: len(texts)], matrix[len(texts) :]

    def compared(start: int, stop: int) -> Floats:
        return np.asarray((first[start:stop] @ second.T).todense(), np.float32)

    return _nearest(compared, len(texts), len(against), threshold, count)


def by_vectors(vectors: Floats, against: Floats, threshold: float, count: int = 1) -> Nearest:
    """The nearest of `against` for each vector. The similarity is the cosine, at least 0."""
    first, second = _unit(vectors), _unit(against)

    def compared(start: int, stop: int) -> Floats:
        similarity: Floats = np.maximum(first[start:stop] @ second.T, 0)
        return similarity

    return _nearest(compared, len(first), len(second), threshold, count)


def by_pairs(
    score: Callable[[Sequence[str], Sequence[str]], Floats],
    texts: Sequence[str],
    against: Sequence[str],
    candidates: Ints,
    threshold: float,
) -> Nearest:
    """The nearest of each text's candidates (int64[n, c], rows of `against`) by a model that reads both.
    Raises HarnessError if the model's scores are no probabilities."""
    other, similarity = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.float32)
    concerned, pairs = np.zeros(len(against), np.bool_), 0
    width = candidates.shape[1]
    for start in range(0, len(texts) if width else 0, BLOCK):
        rows = candidates[start : start + BLOCK]
        firsts = [text for text in texts[start : start + BLOCK] for _ in range(width)]
        scores = score(firsts, [against[row] for row in rows.ravel().tolist()]).reshape(rows.shape)
        if not ((scores >= 0) & (scores <= 1)).all():
            what = "the scores of this model are no probabilities"
            raise HarnessError(
                f"pairs: {what}; name a model whose are, as {{crossencoder: {{models: [NAME]}}}}"
            )
        best = scores.argmax(axis=1)
        other[start : start + BLOCK] = rows[np.arange(len(rows)), best]
        similarity[start : start + BLOCK] = scores.max(axis=1)
        concerned[rows[scores > threshold]] = True
        pairs += int((scores > threshold).sum())
    return Nearest(other, similarity, concerned, pairs, candidates)


def _nearest(
    compared: Callable[[int, int], Floats], queries: int, others: int, threshold: float, count: int
) -> Nearest:
    count = min(count, others)
    candidates = np.zeros((queries, count), np.int64)
    other = np.zeros(queries, np.int64)
    similarity = np.zeros(queries, np.float32)
    concerned = np.zeros(others, np.bool_)
    pairs = 0
    for start in range(0, queries if others else 0, BLOCK):
        stop = min(start + BLOCK, queries)
        block = compared(start, stop)
        other[start:stop] = block.argmax(axis=1)
        if count > 1:
            rows = np.sort(np.argpartition(-block, count - 1, axis=1)[:, :count], axis=1)
            order = np.argsort(-np.take_along_axis(block, rows, axis=1), axis=1, kind="stable")
            candidates[start:stop] = np.take_along_axis(rows, order, axis=1)
        elif count:
            candidates[start:stop, 0] = other[start:stop]
        similarity[start:stop] = block.max(axis=1)
        above = block > threshold
        concerned |= above.any(axis=0)
        pairs += int(above.sum())
    return Nearest(other, similarity, concerned, pairs, candidates)


def _bigrams(text: str, numbers: dict[str, int]) -> list[int]:
    letters = [letter for letter in unicodedata.normalize("NFKC", text).lower() if letter.isalnum()]
    padded = ["^", *letters, "$"]
    return [numbers.setdefault("".join(padded[i : i + 2]), len(numbers)) for i in range(len(padded) - 1)]


def _normalised(rows: Sequence[Sequence[int]], columns: int) -> sparse.csr_matrix:
    """The counts of the numbers in each row, as vectors of length 1."""
    ends = np.cumsum([0, *map(len, rows)])
    flat = np.array([number for row in rows for number in row], np.int64)
    counts = sparse.csr_matrix((np.ones(len(flat), np.float32), flat, ends), (len(rows), max(1, columns)))
    counts.sum_duplicates()
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return sparse.diags(1 / np.maximum(lengths, 1e-12)).astype(np.float32) @ counts


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(lengths, 1e-12)
    return unit
