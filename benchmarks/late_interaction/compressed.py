"""What compressed token vectors cost: bytes, nDCG@10 and recall against exact search, and queries a second
beside other libraries' indexes.

python benchmarks/late_interaction/compressed.py DATA WORK [--queries N] [--rounds N] [--peers PYTHON]

DATA is a collection in BEIR's layout with a split `test`. WORK is a folder for its vectors (see
`language.py`), which are computed once. PYTHON is the interpreter of an environment with pylate and
fast-plaid."""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import language
import numpy as np

from harness_colbert import Ivf, approximate, codec, compressing, inverted, matching, pooling
from harness_colbert.storage import Index, Part

K = 100
FORMS = [(0, 1), (4, 1), (2, 1), (1, 1), (0, 2), (2, 2), (2, 3), (2, 4)]  # bits (0: fp16), pool
WAYS = [(1, 64), (2, 64), (2, 128), (4, 128), (4, 256), (4, 1024), (8, 1024)]  # probes, candidates


def formed(index: Index, bits: int, pool: int) -> tuple[Index, int]:
    """The index with its vectors pooled and compressed, and its bytes."""
    parts = []
    for part in index.parts:
        rows = [
            np.asarray(part.vectors[a:z], np.float32)
            for a, z in zip(part.bounds, part.bounds[1:], strict=False)
        ]
        rows = [pooling.pooled(matrix, pool) for matrix in rows]
        parts.append(Part(np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.float16)))
    index = index._replace(parts=parts)
    count = sum(len(part.vectors) for part in parts)
    if not bits:
        return index, count * index.dimension * 2
    known = compressing.learnt(index, bits)
    packed = [compressing.rows(known, part.vectors.astype(np.float32)) for part in parts]
    compressed = [
        Part(part.bounds, codec.Compressed(known, rows)) for part, rows in zip(parts, packed, strict=True)
    ]
    return index._replace(parts=compressed, codec=known), count * known.width + known.centroids.size * 2


def judged(data: Path) -> tuple[list[int], list[dict[int, int]]]:
    """The numbers of the test queries, and the passages judged relevant to each."""
    ids = [
        {json.loads(line)["_id"]: i for i, line in enumerate((data / f"{name}.jsonl").open(encoding="utf-8"))}
        for name in ("queries", "corpus")
    ]
    relevant: dict[int, dict[int, int]] = defaultdict(dict)
    for line in (data / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        relevant[ids[0][query]][ids[1][passage]] = int(grade)
    return sorted(relevant), [relevant[query] for query in sorted(relevant)]


def ndcg(best: np.ndarray, relevant: list[dict[int, int]]) -> np.ndarray:
    """float64[Q]: nDCG@10 with linear gain."""
    discounts = 1 / np.log2(np.arange(2, 12))
    gains = [
        [grades.get(int(place), 0) for place in row[:10]] for row, grades in zip(best, relevant, strict=True)
    ]
    ideals = [sorted(grades.values(), reverse=True)[:10] for grades in relevant]
    return np.array([
        np.dot(gain, discounts[: len(gain)]) / np.dot(ideal, discounts[: len(ideal)])
        for gain, ideal in zip(gains, ideals, strict=True)
    ])  # fmt: skip


def interval(differences: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean by the bootstrap over queries."""
    chance = np.random.default_rng(0)
    means = [chance.choice(differences, len(differences)).mean() for _ in range(4000)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def recall(best: np.ndarray | list[list[int]], exact: np.ndarray, depth: int) -> float:
    return float(np.mean([np.isin(e[:depth], b[:depth]).mean() for b, e in zip(best, exact, strict=True)]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="a Python with pylate and fast-plaid")
    options = parser.parse_args()
    index, every = language.prepared(options.data, options.work)
    numbers, relevant = judged(options.data)
    queries, relevant = every[numbers[: options.queries]], relevant[: options.queries]
    texts = len(index.positions)
    exact = matching.search(index, queries, K)[0]
    wanted = ndcg(exact, relevant)
    print(
        f"{texts} passages, {sum(len(part.vectors) for part in index.parts)} vectors, {len(queries)} queries"
    )
    print("| stored | pool | bytes a passage | nDCG@10 | less exact | recall@10 of exact | recall@100 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    kept = None
    for bits, pool in FORMS:
        form, size = formed(index, bits, pool)
        kept = form if (bits, pool) == (2, 1) else kept
        best = matching.search(form, queries, K)[0]
        values = ndcg(best, relevant)
        low, high = interval(values - wanted)
        print(
            f"| {f'{bits}bit' if bits else 'fp16'} | {pool} | {size / texts:,.0f} | {values.mean():.4f} | "
            f"{(values - wanted).mean():+.4f} [{low:+.4f}, {high:+.4f}] | {recall(best, exact, 10):.4f} | "
            f"{recall(best, exact, K):.4f} |",
            flush=True,
        )
    assert kept is not None
    compared(kept, queries, exact, options)


def compared(index: Index, queries: np.ndarray, exact: np.ndarray, options: argparse.Namespace) -> None:
    """Prints the queries a second of all ways to search vectors of 2 bits, by wall clock on all cores."""
    print("\n| index of 2 bits | setting | queries/s | recall@10 of exact | recall@100 |")
    print("| --- | --- | --- | --- | --- |")

    def row(engine: str, setting: str, seconds: float, best: np.ndarray | list[list[int]]) -> None:
        shares = " | ".join(f"{recall(best, exact, depth):.4f}" for depth in (10, K))
        print(f"| {engine} | {setting} | {len(queries) / seconds:.1f} | {shares} |", flush=True)

    built = inverted.build(index, Ivf())
    for probes, candidates in [*WAYS, (0, 0)]:
        given, seconds = Ivf(probes=max(1, probes), candidates=max(1, candidates)), np.inf
        best = exact
        for _ in range(options.rounds + 1):  # one compiles the code
            began = time.perf_counter()
            if probes:
                best = approximate.search(index, built, queries, given, K)[0]
            else:
                best = matching.search(index, queries, K)[0]
            seconds = min(seconds, time.perf_counter() - began)
        setting = f"{probes} probes, {candidates} candidates" if probes else "exact"
        row("ours", setting, seconds, best)
    if options.peers is None:
        return
    folder = options.work / "peers"
    folder.mkdir(exist_ok=True)
    source, _ = language.prepared(options.data, options.work)
    np.save(folder / "vectors.npy", np.concatenate([part.vectors for part in source.parts]))
    counts = np.concatenate([np.diff(part.bounds) for part in source.parts])
    np.save(folder / "bounds.npy", np.concatenate([[0], np.cumsum(counts)]))
    np.save(folder / "queries.npy", queries)
    for engine in ("fast-plaid", "plaid"):
        program = Path(__file__).parent / "theirs.py"
        command = [options.peers, str(program), str(folder), engine, "2", str(options.rounds)]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            said = (ran.stderr.strip().splitlines() or [""])[-1][:200]
            print(f"| {engine} | failed with {ran.returncode}: {said} | | | |")
            continue
        results = json.loads((folder / f"results-{engine}.json").read_text())
        for setting, way in results["ways"].items():
            row(engine, setting, way["seconds"], way["best"])
        print(f"| {engine} | built in {results['built']:.0f} s, {results['bytes']:,} bytes | | | |")


if __name__ == "__main__":
    main()
