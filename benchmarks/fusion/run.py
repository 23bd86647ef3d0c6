"""Measures the fusion of several runs against ranx, in one run.

The benchmark fails unless both give the same scores."""

from __future__ import annotations

import argparse
import time

import numpy as np
import ranx

from harness import catalogue
from harness.types import Hits, Structure

SIZE = 2_000_000  # passages of the corpus
PEERS = {  # our combiner -> ranx's method and its parameters
    "combsum": ("sum", {}),
    "combmnz": ("mnz", {}),
    "combanz": ("anz", {}),
    "combmin": ("min", {}),
    "combmax": ("max", {}),
    "combmed": ("med", {}),
    "rrf": ("rrf", {"k": 60}),
    "isr": ("isr", {}),
    "log-isr": ("log_isr", {}),
    "borda": ("bordafuse", {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=list(PEERS))
    given = parser.parse_args()
    inputs = made(given.runs, given.queries, given.depth)
    theirs = [as_ranx(hits) for hits in inputs]
    structure = Structure(
        np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int64), np.ones(SIZE, np.bool_)
    )
    combiners = catalogue.load()
    few = [as_ranx(Hits(hits.passages[:2, :10], hits.scores[:2, :10])) for hits in inputs]
    for name in given.only:
        record = combiners.find("combiners", name).record
        start = time.perf_counter()
        ours = record.build(record.params()).combine(inputs, given.depth, structure)
        seconds = time.perf_counter() - start
        method, needed = PEERS[name]
        norm = "min-max" if name.startswith("comb") else None
        ranx.fuse(runs=few, norm=norm, method=method, params=needed)  # compiles
        start = time.perf_counter()
        fused = ranx.fuse(runs=theirs, norm=norm, method=method, params=needed)
        peer = time.perf_counter() - start
        check(name, ours, fused)
        print(
            f"{name:8}  harness {seconds:6.2f} s  ranx {peer:7.2f} s  ratio {peer / seconds:5.1f}", flush=True
        )


def made(runs: int, queries: int, depth: int) -> list[Hits]:
    """Runs that share about half of their passages, without ties."""
    random = np.random.default_rng(0)
    inputs = []
    for _ in range(runs):
        passages = np.empty((queries, depth), np.int64)
        for row in range(queries):
            pool = (row * 4 * depth + random.permutation(2 * depth)[:depth]) % SIZE
            passages[row] = pool
        scores = np.sort(random.gamma(2.0, 3.0, (queries, depth)).astype(np.float32), axis=1)[:, ::-1]
        inputs.append(Hits(passages, np.ascontiguousarray(scores)))
    return inputs


def as_ranx(hits: Hits) -> ranx.Run:
    rows = zip(hits.passages.tolist(), hits.scores.astype(np.float64).tolist(), strict=True)
    return ranx.Run({
        f"q{row}": dict(zip(map(str, passages), scores, strict=True))
        for row, (passages, scores) in enumerate(rows)
    })  # fmt: skip


def check(name: str, ours: Hits, theirs: ranx.Run) -> None:
    """Check that every passage that our combiner returns has ranx's score, to the precision of float32."""
    for row in range(min(200, len(ours.passages))):
        scores = theirs.run[f"q{row}"]
        passages, values = ours.passages[row], ours.scores[row]
        expected = np.array([scores[str(passage)] for passage in passages[passages >= 0]])
        if not np.allclose(values[passages >= 0], expected, rtol=1e-5, atol=1e-5):
            raise SystemExit(f"{name}: the scores of query {row} differ")


if __name__ == "__main__":
    main()
