"""Measures exact search by `harness.toolkit.search.exact`, with and without estimates in bfloat16, and by the
IndexFlatIP of faiss, in one run.

The benchmark fails unless the harness and faiss find the same vectors."""

import argparse
import os
import resource
import time
from contextlib import contextmanager
from functools import partial

import faiss
import numpy as np

from harness.toolkit.search import exact, exact_scan

TIE = 2e-6  # scores of unit vectors that differ by less are equal, up to float32 sums of 384 products


def made(kind, count, dimension, random):
    vectors = random.standard_normal((count, dimension), np.float32)
    if kind == "cone":  # cosines of about .75, as many models have
        vectors += 1.75
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def check(queries, vectors, ours, theirs):
    """Check that a vector found by only one of the two engines is a tie: its score is that of the last place.
    Returns how many hits differ by ties."""
    different = 0
    for row, (a, b) in enumerate(zip(ours[0], theirs[0], strict=True)):
        only = np.concatenate([np.setdiff1d(a, b), np.setdiff1d(b, a)])
        different += len(only) // 2
        gaps = np.abs(vectors[only].astype(np.float64) @ queries[row] - ours[1][row, -1])
        if (gaps > TIE).any():
            raise SystemExit(f"query {row}: {only[gaps > TIE]} are found by one alone, and it is no tie")
    if np.abs(ours[1] - theirs[1]).max() > TIE:
        raise SystemExit("the scores differ")
    return different


@contextmanager
def in_float32():
    """A context in which estimates are made in float32, as on a CPU without bfloat16."""
    before, exact_scan.has_bf16 = exact_scan.has_bf16, lambda: False
    try:
        yield
    finally:
        exact_scan.has_bf16 = before


def timed(work, *given):
    """The seconds by the clock, the seconds of all cores together, and the result of `work`."""
    began, used = time.perf_counter(), time.process_time()
    result = work(*given)
    return time.perf_counter() - began, time.process_time() - used, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", choices=("sphere", "cone"), default="sphere")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    threads = given.threads or len(os.sched_getaffinity(0))
    faiss.omp_set_num_threads(threads)
    random = np.random.default_rng(0)
    vectors = made(given.kind, given.vectors, given.dimension, random)
    queries = made(given.kind, given.queries, given.dimension, random)
    index = faiss.IndexFlatIP(given.dimension)
    index.add(vectors)
    how = "bfloat16" if exact_scan.has_bf16() else "float32"
    what = f"{given.kind}, {given.vectors:,} x {given.dimension}, {given.queries:,} queries"
    print(f"{what}, {threads} threads, {how}", flush=True)
    for count in (9, 1):  # compiles the code for several queries and for one
        exact.search(np.tile(queries[:1], (count, 1)), vectors[:2000], 10)
    for count, k in ((given.queries, 10), (given.queries, 1000), (1, 10)):
        asked, taken = queries[:count], {"ours": [], "float32": [], "faiss": []}
        for _ in range(given.rounds):
            *spent, theirs = timed(index.search, asked, k)
            taken["faiss"].append(spent)
            *spent, ours = timed(partial(exact.search, threads=threads), asked, vectors, k)
            taken["ours"].append(spent)
            with in_float32():
                *spent, _ = timed(partial(exact.search, threads=threads), asked, vectors, k)
            taken["float32"].append(spent)
        different = check(asked, vectors, ours, theirs[::-1])
        print(f"{count:>5} queries, k = {k}; ties that fell otherwise: {different} of {count * k:,}")
        for place, name in enumerate(("seconds", "seconds of all cores")):
            ours, theirs = (np.array(taken[side])[:, place] for side in ("ours", "faiss"))
            ratios = theirs / ours
            plain = np.array(taken["float32"])[:, place]
            print(
                f"      {name:20}: float32 {plain.min():.3f}, ratio of the best "
                f"{plain.min() / ours.min():.2f}"
            )
            print(
                f"      {name:20}: ours {ours.min():.3f}, faiss {theirs.min():.3f}, ratio of the best "
                f"{theirs.min() / ours.min():.2f}, of each round {ratios.min():.2f} to {ratios.max():.2f}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.1f} GB, the vectors twice among it")


if __name__ == "__main__":
    main()
