"""An index of another library over the vectors of `compressed.py`, in an environment of its own.

PYTHON benchmarks/late_interaction/theirs.py FOLDER ENGINE BITS ROUNDS

FOLDER has the vectors. ENGINE is fast-plaid or plaid (ColBERT's own code, as PyLate carries it). One line a
setting goes to results-ENGINE.json in FOLDER."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

K = 100
SETTINGS = [
    (1, 256),
    (2, 1024),
    (4, 1024),
    (4, 4096),
    (8, 4096),
]  # probed centroids, candidates before pruning


def fast_plaid(folder: Path, passages: list[torch.Tensor], bits: int) -> Callable[..., list[list[int]]]:
    from fast_plaid import search

    index = search.FastPlaid(index=str(folder / "fast-plaid"), device="cpu")
    index.create(documents_embeddings=passages, nbits=bits)

    def ask(queries: torch.Tensor, probes: int, candidates: int) -> list[list[int]]:
        found = index.search(queries, top_k=K, n_ivf_probe=probes, n_full_scores=candidates)
        return [[place for place, _ in row] for row in found]

    return ask


def plaid(folder: Path, passages: list[torch.Tensor], bits: int) -> Callable[..., list[list[int]]]:
    from pylate import indexes

    index = indexes.PLAID(
        str(folder / "plaid"),
        "index",
        override=True,
        use_fast=False,
        nbits=bits,
        embedding_size=passages[0].shape[1],
    )
    index.add_documents([str(i) for i in range(len(passages))], passages)
    searcher = index._index.searcher  # without the translation of ids by a database, which takes longer

    def ask(queries: torch.Tensor, probes: int, candidates: int) -> list[list[int]]:
        searcher.configure(ncells=probes, ndocs=candidates, centroid_score_threshold=0.35)
        return [searcher.dense_search(query[None], k=K)[0] for query in queries]

    return ask


def main() -> None:
    folder, engine, bits, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    vectors, bounds = torch.from_numpy(np.load(folder / "vectors.npy")), np.load(folder / "bounds.npy")
    passages = list(torch.split(vectors.float(), np.diff(bounds).tolist()))
    queries = torch.from_numpy(np.load(folder / "queries.npy"))
    began = time.perf_counter()
    ask = {"fast-plaid": fast_plaid, "plaid": plaid}[engine](folder, passages, bits)
    results = {"built": time.perf_counter() - began, "ways": {}}
    files = [path for path in (folder / engine).rglob("*") if path.is_file()]
    results["bytes"] = sum(path.stat().st_size for path in files)
    ask(queries[:2], *SETTINGS[0])
    for setting in SETTINGS:
        seconds, found = np.inf, []
        for _ in range(rounds):
            began = time.perf_counter()
            found = ask(queries, *setting)
            seconds = min(seconds, time.perf_counter() - began)
        results["ways"]["{} probes, {} candidates".format(*setting)] = {"seconds": seconds, "best": found}
    (folder / f"results-{engine}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
