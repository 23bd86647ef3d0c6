"""Measures the memory of `hierarchical` with 1,000 documents a query on a collection of NQ's size in DAPR.

The benchmark fails if the process takes more than a gigabyte."""

import argparse
import time
from pathlib import Path

import numpy as np

from harness.types import Hits, Structure
from harness_hierarchical import HierarchicalParams
from harness_hierarchical.methods import Hierarchical

PASSAGES, DOCUMENTS, QUERIES = 2_682_017, 108_626, 3_610
LIMIT = 1.0  # GB


def made(passages, documents, random):
    """The structure of documents with random lengths, like those of articles: a few passages, or hundreds."""
    lengths = 1 + np.floor(random.lognormal(2.6, 1.1, documents)).astype(np.int64)
    lengths = np.maximum(1, lengths * passages // lengths.sum())
    first = np.concatenate([[0], np.cumsum(lengths)])
    document_of = np.repeat(np.arange(documents, dtype=np.int32), lengths)
    return Structure(document_of, first, np.ones(first[-1], np.bool_))


def rescore(number, positions, first=0):
    """The hits of a stand-in for a retriever: the passages with made-up scores, best first. It has no index,
    so an index is not part of the measured memory."""
    scores = np.where(positions < 0, -np.inf, np.sin(positions.astype(np.float32))).astype(np.float32)
    order = np.argsort(-scores, axis=1)
    return Hits(np.take_along_axis(positions, order, 1), np.take_along_axis(scores, order, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--documents", type=int, default=1000, help="of each query")
    given = parser.parse_args()
    random = np.random.default_rng(0)
    structure = made(PASSAGES, DOCUMENTS, random)
    best = random.integers(0, DOCUMENTS, (given.queries, given.documents))
    scores = -np.sort(random.random(best.shape, np.float32), axis=1)
    ranking = Hits(best.astype(np.int64), -scores[:, ::-1], "document")
    nothing = Hits(np.full((given.queries, 0), -1, np.int64), np.zeros((given.queries, 0), np.float32))
    began = time.perf_counter()
    hits = Hierarchical(HierarchicalParams(documents=given.documents)).combine(
        [nothing, ranking], 1000, structure, rescore
    )
    seconds = time.perf_counter() - began
    assert hits.passages.shape == (given.queries, 1000)
    # of this process alone: getrusage also counts that of the process which started it
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20
    widest = int(np.diff(structure.first)[best].sum(axis=1).max())
    print(
        f"{len(structure.document_of):,} passages, {given.queries:,} queries, "
        f"{given.documents:,} documents each"
    )
    print(f"up to {widest:,} passages a query; {seconds:.1f} s, peak memory {peak:.2f} GB")
    if peak > LIMIT:
        raise SystemExit(f"more than {LIMIT} GB")


if __name__ == "__main__":
    main()
