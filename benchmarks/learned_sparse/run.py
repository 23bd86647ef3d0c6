"""Measures exact search in an impact index against sparse matrix products, in one run, interleaved.
The time is that of one core, so that other work on the machine does not count.

python benchmarks/learned_sparse/run.py [--passages N] [--queries N] [--rounds N]"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from harness.toolkit.neural.encoding.parts import Shard
from harness.toolkit.neural.tokens import Lost
from harness_splade import storage
from harness_splade.searching import Search

VOCABULARY, TERMS, QUERY_TERMS, SHARD = 30_522, 120, 30, 8192


def rows(count: int, terms: int, seed: int) -> list[storage.Row]:
    """Random rows of an impact index. Terms follow a flattened Zipf's law, like the terms of expansion
    models; weights are distributed like saturated logits."""
    chance = np.random.default_rng(seed)
    share = np.cumsum(1 / np.arange(1, VOCABULARY + 1) ** 0.8)
    names = np.random.default_rng(0).permutation(VOCABULARY).astype(np.int32)
    rows = []
    for _ in range(count):
        drawn = np.searchsorted(share, chance.random(terms) * share[-1])
        drawn_terms = np.unique(names[drawn])
        rows.append(
            storage.Row(
                drawn_terms, np.log1p(chance.exponential(1.0, len(drawn_terms)) + 1e-3).astype(np.float32)
            )
        )
    return rows


def matrix(of: list[storage.Row]) -> scipy.sparse.csr_matrix:
    ends = np.cumsum([0, *(len(row.terms) for row in of)])
    terms = np.concatenate([row.terms for row in of])
    weights = np.concatenate([row.weights for row in of])
    return scipy.sparse.csr_matrix((weights, terms, ends), shape=(len(of), VOCABULARY))


def by_scipy(queries: scipy.sparse.csr_matrix, terms: scipy.sparse.csr_matrix, k: int) -> np.ndarray:
    """The `k` best scores of each query, one query at a time: its row times the postings, a CSR matrix of
    terms by passages."""
    best = []
    for row in range(queries.shape[0]):
        scores = (queries[row] @ terms).toarray()[0]
        best.append(-np.sort(np.partition(-scores, k)[:k]))
    return np.array(best)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    passages, queries = rows(options.passages, TERMS, 1), rows(options.queries, QUERY_TERMS, 2)
    asked, postings = matrix(queries), matrix(passages).T.tocsr()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.process_time()
        (folder / storage.SHARDS / "shards").mkdir(parents=True)
        write = storage.writer(folder, None)
        for number, first in enumerate(range(0, len(passages), SHARD)):
            shard_rows = passages[first : first + SHARD]
            write(Shard(number, first, np.arange(first, first + len(shard_rows)), shard_rows))
        count = storage.finish(folder, VOCABULARY, None)
        spent = time.process_time() - began
        print(f"{options.passages} passages, {count} postings: written in {spent:.1f} s; one core")
        search = Search(storage.read(folder), lambda texts: (queries, Lost()), "passage", threads=1)
        print("| k | ours, ms a query | scipy, ms a query | scipy / ours | largest difference of a score |")
        print("| --- | --- | --- | --- | --- |")
        for k in (10, 100, 1000):
            texts = [""] * options.queries
            least = {"ours": np.inf, "scipy": np.inf}
            search.search(texts, k)
            for _ in range(options.rounds):
                began = time.process_time()
                scores = search.search(texts, k).scores
                least["ours"] = min(least["ours"], time.process_time() - began)
                began = time.process_time()
                expected = by_scipy(asked, postings, k)
                least["scipy"] = min(least["scipy"], time.process_time() - began)
            each = {way: seconds / options.queries * 1e3 for way, seconds in least.items()}
            print(
                f"| {k} | {each['ours']:.3f} | {each['scipy']:.2f} | {each['scipy'] / each['ours']:.1f} "
                f"| {np.abs(scores - expected).max():.1e} |"
            )


if __name__ == "__main__":
    main()
