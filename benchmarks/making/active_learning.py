"""Simulates active learning on a fully judged collection: how many judgements a quality costs.

The re-ranker is a logistic regression over overlaps of characters, so that a round takes moments; a real
re-ranker is a cross-encoder. Each round trains the re-ranker, and then judges pairs whose score lies between
two quantiles, or random pairs.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

SHARE = 0.95  # the share of the final quality that must be reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a BEIR folder, such as xquad-zh")
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--step", type=int, default=20, help="judgements of a round")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    values, labels = pairs(given.folder, given.candidates)
    half = len(values) // 2
    train, test = slice(0, half), slice(half, None)
    spent: dict[str, list[int]] = {"active": [], "random": []}
    for seed in range(given.seeds):
        curves = {way: curve(values, labels, train, test, way, seed, given) for way in spent}
        final = SHARE * np.mean([points[-1][1] for points in curves.values()])
        for way, points in curves.items():
            reached = [judged for judged, quality in points if quality >= final]
            spent[way].append(reached[0] if reached else points[-1][0])
    random = np.random.default_rng(0)
    for way, counts in spent.items():
        means = np.mean(random.choice(counts, (2000, len(counts))), axis=1)
        low, high = np.percentile(means, (2.5, 97.5))
        print(
            f"{way}: {np.mean(counts):.0f} judgements [{low:.0f}, {high:.0f}] for {SHARE:.0%} of the quality"
        )


def pairs(folder: Path, candidates: int) -> tuple[np.ndarray, np.ndarray]:
    """The features, float[Q, n, features], and the labels, bool[Q, n], of the candidates of each query that
    has a positive among them."""
    passages = {row["_id"]: bag(row["text"]) for row in rows(folder / "corpus.jsonl")}
    queries = {row["_id"]: bag(row["text"]) for row in rows(folder / "queries.jsonl")}
    positives: dict[str, set[str]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        if int(grade) > 0:
            positives.setdefault(query, set()).add(passage)
    frequency = Counter(gram for passage in passages.values() for gram in passage)
    idf = {gram: np.log(len(passages) / count) for gram, count in frequency.items()}
    values, labels = [], []
    for query in list(positives)[:400]:
        asked = queries[query]
        scored = sorted(passages, key=lambda name: -shared(asked, passages[name], idf))[:candidates]
        if positives[query] & set(scored):
            values.append([features(asked, passages[name], idf) for name in scored])
            labels.append([name in positives[query] for name in scored])
    array = np.array(values)
    array = (array - array.mean(axis=(0, 1))) / (array.std(axis=(0, 1)) + 1e-9)
    order = np.random.default_rng(1).permutation(len(array))
    return array[order], np.array(labels)[order]


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def bag(text: str) -> Counter[str]:
    letters = [letter for letter in text.lower() if letter.isalnum()]
    return Counter(["".join(letters[i : i + n]) for n in (1, 2, 3) for i in range(len(letters) - n + 1)])


def shared(one: Counter[str], other: Counter[str], idf: dict[str, float]) -> float:
    return sum(idf.get(gram, 0.0) for gram in one if gram in other)


def features(one: Counter[str], other: Counter[str], idf: dict[str, float]) -> list[float]:
    sizes = [sum(idf.get(gram, 0.0) for gram in one if len(gram) == n and gram in other) for n in (1, 2, 3)]
    counts = [sum(len(gram) == n and gram in other for gram in one) for n in (1, 2, 3)]
    return [*sizes, *counts, float(len(other)), np.random.default_rng(len(other)).normal()]


def curve(values, labels, train, test, way, seed, given):  # type: ignore[no-untyped-def]
    """The number of judgements and RR@10 on the test queries, after each round."""
    random = np.random.default_rng(seed)
    flat, truth = values[train].reshape(-1, values.shape[2]), labels[train].ravel()
    judged = np.zeros(len(flat), np.bool_)
    judged[random.permutation(len(flat))[: given.step]] = True
    points = []
    for _ in range(given.rounds):
        weights = fitted(flat[judged], truth[judged])
        points.append((int(judged.sum()), reciprocal_rank(values[test] @ weights, labels[test])))
        open_ = np.flatnonzero(~judged)
        if way == "active":
            scores = flat[open_] @ weights
            low, high = np.quantile(scores, (0.8, 0.98))
            between = open_[(scores >= low) & (scores <= high)]
            open_ = between if len(between) >= given.step else open_
        judged[random.permutation(open_)[: given.step]] = True
    return points


def fitted(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    weights = np.zeros(values.shape[1])
    bias = 0.0
    for _ in range(150):
        slope = 1 / (1 + np.exp(-np.clip(values @ weights + bias, -30, 30))) - labels
        weights -= 0.5 * (values.T @ slope / len(values) + 1e-3 * weights)
        bias -= 0.5 * slope.mean()
    return weights


def reciprocal_rank(scores: np.ndarray, labels: np.ndarray) -> float:
    order = np.argsort(-scores, axis=1)
    hits = np.take_along_axis(labels, order, axis=1)[:, :10]
    first = np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0)
    return float(first.mean())


if __name__ == "__main__":
    main()
