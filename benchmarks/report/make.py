"""Makes up a leaderboard of any size, with the files that its rows cite, for the benchmark and for tests."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import orjson

COLUMNS = ("nDCG@10", "RR@10", "R@100", "P@1")


def leaderboard(folder: Path, systems: int, datasets: int, queries: int, seed: int = 0) -> Path:
    """Write leaderboard.json and per-query/ into `folder`, and return the path of leaderboard.json. Values
    are like those of graded nDCG: many zeros and ones, and the rest spread out. The values of systems on the
    same query are correlated."""
    random = np.random.default_rng(seed)
    rows = []
    for d in range(datasets):
        hardness = random.normal(size=queries)
        for s in range(systems):
            level = hardness + random.normal(0.02 * s, 0.8, size=queries)
            # the first ten ranks with one or two relevant passages: real nDCG has few different values, too
            first = np.where(level > -0.4, random.geometric(0.35 + 0.004 * s, queries), 99)
            second = np.where(random.random(queries) < 0.3, first + random.geometric(0.4, queries), 99)
            gains = [np.where(rank <= 10, 1 / np.log2(rank + 1), 0) for rank in (first, second)]
            ideal = np.where(second < 99, 1 + 1 / np.log2(3), 1.0)
            columns = [sum(gains) / ideal, np.where(first <= 10, 1 / first, 0), first < 99, first == 1]
            rows.append(_row(folder, f"dataset-{d:02}", f"system-{s:02}", columns))
    data = {
        "schema": "passage-harness/leaderboard/1",
        "name": f"{systems} x {datasets} x {queries}",
        "description": "Made up, to time the report.",
        "suite": {"digest": "0" * 64, "depth": 1000, "seed": 0, "protocol": None, "measures": list(COLUMNS)},
        "datasets": [_dataset(f"dataset-{d:02}", queries) for d in range(datasets)],
        "columns": [{"label": name, "measure": name, "unit": "passage", "says": ""} for name in COLUMNS],
        "rows": rows,
        "analyses": [],
        "environment": {"passage-harness": "0", "cpu": "none"},
    }
    path = folder / "leaderboard.json"
    path.write_bytes(orjson.dumps(data))
    return path


def _dataset(name: str, queries: int) -> dict[str, object]:
    return {
        "name": name, "split": "test", "plugin": "none", "params": {},
        "language": "en", "query_language": "en",
        "licence": "", "citation": "", "url": "",
        "counts": {"judged_queries": queries, "passages": 1_000_000},
        "digests": dict.fromkeys(("corpus", "queries", "judgements"), "0" * 64),
    }  # fmt: skip


def _row(folder: Path, dataset: str, system: str, columns: list[np.ndarray]) -> dict[str, object]:
    path = folder / "per-query" / dataset / f"{system}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(["query", *COLUMNS])]
    table = [column.astype(float).tolist() for column in columns]
    lines += [
        "\t".join([f"q{i:06}", *map(repr, values)]) for i, values in enumerate(zip(*table, strict=True))
    ]
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(content)
    means = [float(column.mean()) for column in columns]
    sha = hashlib.sha256(content).hexdigest()
    step = {
        "name": "none",
        "version": "1",
        "sources": None,
        "libraries": {},
        "params": {},
        "plugin": "none 1",
    }
    return {
        "dataset": dataset, "split": "test", "system": system, "unit": "passage", "protocol": None,
        "origin": "run", "status": "ok", "error": None, "flags": [], "reported": [], "tuning": [],
        "measures": {
            name: {"mean": mean, "ci95": [mean - 0.01, mean + 0.01], "queries": len(columns[0])}
            for name, mean in zip(COLUMNS, means, strict=True)
        },
        "slices": {}, "scored": {"queries": len(columns[0])},
        "files": {"per_query": {"path": path.relative_to(folder).as_posix(), "sha256": sha}},
        "provenance": {"fingerprint": sha, "seed": 0, "steps": [{"step": "search", "key": sha, **step}]},
        "cost": {"seconds": 1.0 + len(system) + means[0], "search_latency_ms": {"p50": 1.0, "p95": 2.0}},
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--queries", type=int, default=10_000)
    options = parser.parse_args()
    print(leaderboard(options.folder, options.systems, options.datasets, options.queries))
