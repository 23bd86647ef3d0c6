"""Measures the time and recall of approximate MaxSim search by centroids against exact search, interleaved.
The time is that of one core, so that other work on the machine does not count.

python benchmarks/late_interaction/approximate.py DATA WORK [--queries N] [--rounds N]

DATA is a collection in BEIR's layout. WORK is a folder for its vectors, which are computed once."""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path

import language
import numpy as np
import torch

from harness_colbert import Ivf, approximate, inverted, matching
from harness_colbert.storage import Index

K = 100
WAYS = [(probes, candidates) for candidates in (256, 1024) for probes in (1, 2, 4, 8)]


def probed(index: Index, built: inverted.Inverted, queries: np.ndarray, options: Ivf) -> np.ndarray:
    return approximate.search(index, built, queries, options, K)[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    index, queries = language.prepared(options.data, options.work)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    chance = np.random.default_rng(1)
    queries = queries[np.sort(chance.permutation(len(queries))[: options.queries])]

    began = time.process_time()
    built = inverted.build(index, Ivf())
    building = time.process_time() - began
    ways = {"exact": lambda: matching.search(index, queries, K)[0]}
    for probes, candidates in WAYS:
        ways[f"{probes} probes, {candidates} candidates"] = partial(
            probed, index, built, queries, Ivf(probes=probes, candidates=candidates)
        )
    seconds, best_of = dict.fromkeys(ways, np.inf), {}
    for way in ways.values():  # compiles the code
        way()
    for _ in range(options.rounds):
        for name, way in ways.items():
            began = time.process_time()
            best_of[name] = way()
            seconds[name] = min(seconds[name], time.process_time() - began)
    vectors = sum(len(part.vectors) for part in index.parts)
    print(
        f"{len(index.positions)} passages, {vectors} vectors, {len(queries)} queries, one core; "
        f"{len(built.centroids)} centroids, built in {building:.1f} s"
    )
    print(f"| way | queries/s | times exact | recall@10 | recall@{K} |")
    print("| --- | --- | --- | --- | --- |")
    for name, spent in seconds.items():
        shares = [
            np.mean(
                [
                    np.isin(best[:n], exact).mean()
                    for best, exact in zip(best_of["exact"], best_of[name], strict=True)
                ]
            )
            for n in (10, K)
        ]
        times = seconds["exact"] / spent
        print(f"| {name} | {len(queries) / spent:.1f} | {times:.2f} | {shares[0]:.4f} | {shares[1]:.4f} |")


if __name__ == "__main__":
    main()
