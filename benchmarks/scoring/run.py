"""Measures scoring against ir-measures on the same arrays, in one run: `python benchmarks/scoring/run.py`.

The benchmark fails unless all values are equal."""

from __future__ import annotations

import argparse
import time

import ir_measures
import numpy as np

from harness.collection.judgements import Judged
from harness.records import Column
from harness.scoring import bounds, ranking
from harness.scoring.ranking import Documents
from harness.scoring.score import score
from harness.types import Hits

MEASURES = ("RR@10", "R@50", "R@1000", "nDCG@10", "AP", "Success@50")
SIZE = 8_000_000  # passages of the corpus
JUDGED = 7  # judgements for each query; most of the judged passages are in the ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5, help="of ours; the median counts")
    given = parser.parse_args()
    hits, judged = made(given.queries, given.depth)
    columns = [Column(name) for name in MEASURES]
    times = []
    for _ in range(given.repeat):
        start = time.perf_counter()
        scores = score(hits, judged, columns, size=SIZE)
        times.append(time.perf_counter() - start)
    ours = {scored.column.measure: scored.values for scored in scores.columns}
    findable = bounds.Findable(np.ones(SIZE, np.bool_), {})
    documents = Documents(np.zeros(SIZE, np.int32), np.zeros(1, np.int32))  # no column counts documents
    start = time.perf_counter()
    bounds.limits(scores, findable, documents, plugin_measures={}, depth=given.depth)
    limited = time.perf_counter() - start
    start = time.perf_counter()
    theirs = by_ir_measures(hits, judged)
    peer = time.perf_counter() - start
    worst = max(float(np.abs(ours[name] - theirs[name]).max()) for name in MEASURES)
    mine = float(np.median(times))
    print(f"{given.queries} queries x {given.depth} passages on {', '.join(MEASURES)}")
    print(f"harness      {mine:8.3f} s (median of {given.repeat}: {', '.join(f'{t:.3f}' for t in times)})")
    print(f"its limits   {limited:8.3f} s, of all columns")
    print(f"ir-measures  {peer:8.3f} s, conversion included")
    print(f"ratio        {peer / mine:8.1f}")
    print(f"largest difference of a query's value: {worst}")
    if worst > 0:
        raise SystemExit("the values differ")


def made(queries: int, depth: int) -> tuple[Hits, Judged]:
    """A canonical ranking and its judgements from a seed. Passages are random, and scores fall with the
    rank."""
    random = np.random.default_rng(1)
    passages = np.empty((queries, depth), np.int64)
    for row in passages:
        row[:] = random.permutation(np.unique(random.integers(0, SIZE, 2 * depth)))[:depth]
    scores = -np.sort(-random.random((queries, depth), np.float32), axis=1)
    order = random.permutation(SIZE).astype(np.int32)
    hits = ranking.canonical(Hits(passages, scores), size=SIZE, rank_of_id=order, depth=depth)
    query = np.repeat(np.arange(queries), JUDGED)
    rank = np.minimum(random.geometric(0.02, len(query)) - 1, depth - 1)
    passage = np.where(
        random.random(len(query)) < 0.7, hits.passages[query, rank], random.integers(0, SIZE, len(query))
    )
    pairs = np.unique(np.stack([query, passage], axis=1), axis=0)
    grade = random.integers(0, 4, len(pairs)).astype(np.int32)
    return hits, Judged(pairs[:, 0].astype(np.int32), pairs[:, 1].copy(), grade)


def by_ir_measures(hits: Hits, judged: Judged) -> dict[str, np.ndarray]:
    """The values by ir-measures. Scores are replaced by falling numbers, because one of its providers breaks
    ties in another order."""
    qrels: dict[str, dict[str, int]] = {}
    columns = (column.tolist() for column in (judged.query, judged.passage, judged.grade))
    for query, passage, grade in zip(*columns, strict=True):
        qrels.setdefault(str(query), {})[str(passage)] = grade
    falling = [float(score) for score in range(hits.passages.shape[1], 0, -1)]
    run = {
        str(query): dict(zip(map(str, row), falling, strict=True))
        for query, row in enumerate(hits.passages.tolist())
    }
    measures = {ir_measures.parse_measure(name): name for name in MEASURES}
    place = {name: number for number, name in enumerate(sorted(qrels, key=int))}
    values_of = {name: np.zeros(len(qrels)) for name in MEASURES}
    for value in ir_measures.iter_calc(list(measures), qrels, run):
        if value.query_id in place:
            values_of[measures[value.measure]][place[value.query_id]] = value.value
    return values_of


if __name__ == "__main__":
    main()
