"""Measures the pooling of 20 runs of 10,000 queries against Python's sets, and writing the pool's files."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from near_duplicates import Generated  # beside this file

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.maker_input import MakerInput
from harness.collection.queries import read_judgements, read_queries, write_judgements, write_queries
from harness.types import Hits, Query
from harness_pooling import PoolParams, pairs
from harness_pooling.pool import Pool

SIZE = 200_000  # passages of the corpus


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
    with tempfile.TemporaryDirectory() as name:
        maker_input = collection(Path(name), {f"s{i}": run for i, run in enumerate(runs)})
        began = time.thread_time()
        Pool(PoolParams(of=tuple(maker_input.runs), depth=given.depth)).make(maker_input)
        print(f"the maker `pool`, with its files: {time.thread_time() - began:.1f} s of CPU")


def collection(folder: Path, runs: dict[str, Hits]) -> MakerInput:
    for name in ("corpus", "queries", "judgements", "working"):
        (folder / name).mkdir()
    source: Any = Generated(SIZE, 1)
    corpus.write(source, folder / "corpus", lambda *_: None)
    queries = len(next(iter(runs.values())).passages)
    write_queries((Query(f"q{i}", f"query {i}") for i in range(queries)), folder / "queries")
    write_judgements(iter(()), folder / "judgements")
    return MakerInput(
        language="en", query_language=None, split="test", read_corpus=Corpus(folder / "corpus"),
        read_queries=read_queries(folder / "queries"),
        read_judgements=read_judgements(folder / "judgements"), dataset="generated",
        folder=folder / "working", runs=runs,
    )  # fmt: skip


if __name__ == "__main__":
    main()
