"""Leaderboards with values per query, written into a folder for tests."""

import hashlib

import numpy as np
import orjson

QUERIES = 40
CORPUS = "c" * 64


def values(seed, lift=0.0):
    return np.clip(np.random.default_rng(seed).random(QUERIES) / 2 + lift, 0, 1)


def board(folder, systems, *, name="made", **changes):
    """A leaderboard in a folder: systems is name -> {column: values}, or None for a failed one."""
    queries = changes.pop("queries", [f"q{i}" for i in range(QUERIES)])
    dataset = changes.pop("dataset", "d")
    labels = list(dict.fromkeys(label for found in systems.values() if found for label in found))
    rows = []
    for system, found in systems.items():
        heads, columns = ["query"], [queries]
        for label, column in (found or {}).items():
            parts = column if isinstance(column, tuple) else (column,)
            ends = (" numerator", " denominator") if len(parts) == 2 else ("",)
            heads += [label + end for end in ends]
            columns += [[repr(value) for value in np.asarray(part, float).tolist()] for part in parts]
        lines = ["\t".join(heads), *map("\t".join, zip(*columns, strict=True))]
        data = ("\n".join(lines) + "\n").encode()
        path = folder / "per-query" / dataset / f"{system}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        file = {"path": f"per-query/{dataset}/{system}.tsv", "sha256": hashlib.sha256(data).hexdigest()}
        rows.append(
            {
                "dataset": dataset, "split": "test", "system": system, "unit": "passage", "protocol": None,
                "origin": "run", "status": "ok" if found else "failed", "error": None if found else "no",
                "flags": [], "slices": {}, "scored": {}, "reported": [], "tuning": [],
                "measures": {x: {"mean": 0.5, "ci95": [0.4, 0.6], "queries": len(queries)} for x in found or {}},
                "files": {"per_query": file} if found else {}, "cost": {"seconds": 1.0} if found else {},
                "provenance": {"fingerprint": file["sha256"] if found else None, "seed": 0, "steps": []},
            }
        )  # fmt: skip
    block = {
        "name": dataset, "split": "test", "plugin": "files", "params": {}, "language": "en",
        "query_language": "en", "licence": "", "citation": "", "url": "", "digests": {"corpus": CORPUS, "judgements": "j" * 64},
        "contents": {"corpus": CORPUS, "judgements": "j" * 64, "queries": "q" * 64}, "counts": {},
        "unknown_judgements": "keep", **changes.pop("block", {}),
    }  # fmt: skip
    columns = [
        {"label": x, "measure": x, "unit": "passage", "says": ""} for x in changes.pop("labels", labels)
    ]
    suite = {"digest": "", "depth": 100, "seed": 0, "protocol": None, "measures": labels}
    content = {
        "schema": "passage-harness/leaderboard/1", "name": name, "description": "",
        "suite": {**suite, **changes.pop("suite", {})}, "datasets": [block], "columns": columns,
        "rows": rows, "analyses": [], "environment": {"cpu": name, "cores": 2}, **changes,
    }  # fmt: skip
    (folder / "leaderboard.json").write_bytes(orjson.dumps(content))
    return folder
