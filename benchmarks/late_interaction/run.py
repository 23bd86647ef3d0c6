"""Measures exact MaxSim over a corpus of token vectors against two ways with torch, in one run, interleaved.
The time is that of one core, so that other work on the machine does not count.

python benchmarks/late_interaction/run.py [--passages N] [--queries N] [--rounds N]"""

from __future__ import annotations

import argparse
import os
import time
from itertools import pairwise

import numpy as np
import torch

from harness_colbert import matching, storage

DIMENSION, LENGTH, PER_PART = 128, 32, 4096


def made_up(passages: int) -> storage.Index:
    """An index of random vectors of length 1, 30 to 110 a passage. They are in fp16, the default for a
    ColBERT."""
    chance = np.random.default_rng(1)
    first = [*range(0, passages, PER_PART), passages]
    parts = []
    for begin, end in pairwise(first):
        bounds = np.concatenate([[0], np.cumsum(chance.integers(30, 111, end - begin))])
        parts.append(storage.Part(bounds, unit(chance, int(bounds[-1])).astype(np.float16)))
    return storage.Index(np.arange(passages), np.array(first), parts, DIMENSION)


def unit(chance: np.random.Generator, rows: int) -> np.ndarray:
    vectors = chance.standard_normal((rows, DIMENSION), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_matmul(index: storage.Index, queries: np.ndarray, k: int) -> np.ndarray:
    """float32[Q, k]: the best scores, from a product for each query and part of the corpus, and
    `segment_reduce`."""
    best = torch.full((len(queries), k), -torch.inf)
    for part in index.parts:
        vectors = torch.from_numpy(part.vectors.astype(np.float32))
        lengths = torch.from_numpy(np.diff(part.bounds))
        for row, query in enumerate(queries):
            similar = vectors @ torch.from_numpy(query).T
            scores = torch.segment_reduce(similar, "max", lengths=lengths, axis=0).sum(dim=1)
            best[row] = torch.cat([best[row], scores]).topk(k).values
    return best.numpy()


def by_padding(index: storage.Index, queries: np.ndarray, k: int) -> np.ndarray:
    """float32[Q, k]: the best scores, from passages padded to one length, 256 at a time, as ColBERT's own
    code compares candidates."""
    best = torch.full((len(queries), k), -torch.inf)
    for part in index.parts:
        lengths = np.diff(part.bounds)
        for first in range(0, len(lengths), 256):
            counts = lengths[first : first + 256]
            filled = torch.from_numpy(np.arange(counts.max()) < counts[:, None])
            padded = torch.zeros((len(counts), int(counts.max()), DIMENSION))
            begin = part.bounds[first]
            padded[filled] = torch.from_numpy(part.vectors[begin : begin + counts.sum()].astype(np.float32))
            for row, query in enumerate(queries):
                similar = padded @ torch.from_numpy(query).T
                similar[~filled] = -9999
                scores = similar.max(dim=1).values.sum(dim=1)
                best[row] = torch.cat([best[row], scores]).topk(k).values
    return best.numpy()


def ours(index: storage.Index, queries: np.ndarray, k: int) -> np.ndarray:
    return matching.search(index, queries, k)[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=16_384)
    parser.add_argument("--queries", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    index = made_up(options.passages)
    tokens = sum(len(part.vectors) for part in index.parts)
    chance = np.random.default_rng(2)
    queries = unit(chance, options.queries * LENGTH).reshape(-1, LENGTH, DIMENSION)
    ours(index, queries, 100)  # compiles the code
    ways = {"ours": ours, "torch, a product a query": by_matmul, "torch, padded": by_padding}
    seconds = dict.fromkeys(ways, np.inf)
    scores = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            began = time.process_time()
            scores[name] = way(index, queries, 100)
            seconds[name] = min(seconds[name], time.process_time() - began)
    work = 2 * tokens * DIMENSION * LENGTH * options.queries
    print(f"{options.passages} passages, {tokens} vectors, {options.queries} queries, k = 100, one core")
    print("| way | ms a query | GFLOP/s | times ours | largest difference of a score |")
    print("| --- | --- | --- | --- | --- |")
    for name, spent in seconds.items():
        differ = np.abs(scores[name] - scores["ours"]).max()
        rate = work / spent / 1e9
        print(
            f"| {name} | {spent / options.queries * 1e3:.1f} | {rate:.0f} | {spent / seconds['ours']:.2f} "
            f"| {differ:.1e} |"
        )


if __name__ == "__main__":
    main()
