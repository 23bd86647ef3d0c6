"""Measures the pooling of 20 runs of 10,000 queries against Python's sets."""

from __future__ import annotations

import argparse
import time

import numpy as np

from harness.types import Hits
from harness_pooling import pairs

SIZE = 2_000_000  # passages of the corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--depth", type=int, default=50)
    given = parser.parse_args()
    random = np.random.default_rng(0)
    base = random.integers(0, SIZE, (given.queries, 400))
    runs = []
    for _ in range(given.runs):
        columns = np.stack([random.permutation(400)[: given.depth] for _ in range(given.queries)])
        rows = np.take_along_axis(base, columns, axis=1)
        runs.append(Hits(rows, np.zeros(rows.shape, np.float32)))
    pairs.union([Hits(run.passages[:2], run.scores[:2]) for run in runs], given.depth)  # compiles
    began = time.thread_time()
    pooled = pairs.first(pairs.union(runs, given.depth), 1000)
    seconds = time.thread_time() - began
    began = time.thread_time()
    expected = 0
    for query in range(given.queries):
        expected += len(set().union(*(run.passages[query].tolist() for run in runs)))
    by_sets = time.thread_time() - began
    assert expected == len(pooled.query)
    rest = f"Python's sets, without ranks: {by_sets:.1f} s"
    print(f"{len(pooled.query):,} pairs in {seconds:.1f} s of CPU; {rest}")


if __name__ == "__main__":
    main()
