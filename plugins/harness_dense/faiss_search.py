"""Search with a faiss index: faiss proposes vectors, which are scored exactly. The recall is measured.

An index is built on one thread. That is slower, but several threads build a different HNSW graph every time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from harness.plugin import JSON, Floats, HarnessError, Ints
from harness.toolkit.search import exact
from harness_dense.faiss_options import Faiss

BLOCK = 1 << 16  # vectors passed to faiss at once
TRAINING = 256 * 256  # vectors that an index is trained on, or 64 for each cell where that is more
SAMPLE = 256  # queries that recall is measured on


def build(vectors: NDArray[Any], options: Faiss) -> Any:
    """An index of `vectors` (float32 or float16 [N, d]) by inner product, built on the CPU. The same vectors
    and options give the same index."""
    try:
        index = faiss.index_factory(vectors.shape[1], options.faiss, faiss.METRIC_INNER_PRODUCT)
        _tune(index, options)
        with _threads(1):
            if not index.is_trained:
                index.train(_training(vectors, index, options.seed))
            for start in range(0, len(vectors), BLOCK):
                index.add(np.ascontiguousarray(vectors[start : start + BLOCK], np.float32))
    except (RuntimeError, AssertionError) as error:
        raise HarnessError(
            f"search.faiss: an index '{options.faiss}' of {len(vectors)} vectors of {vectors.shape[1]} "
            f"numbers cannot be built: {_reason(error)}; choose another, or search: exact"
        ) from None
    return index


def search(index: Any, queries: Floats, vectors: NDArray[Any], k: int) -> tuple[Ints, Floats]:
    """The hits and scores of each query among the k vectors that the index proposes for it, as from
    `exact.search`. The index decides which vectors are hits, never their scores."""
    k = min(k, len(vectors))
    if k == 0 or len(queries) == 0:
        return exact.search(queries, vectors, k)
    _, places = index.search(np.ascontiguousarray(queries, np.float32), k)
    return exact.search(queries, vectors, k, places.astype(np.int64))


def measured(index: Any, queries: Floats, vectors: NDArray[Any], k: int, seed: int = 0) -> dict[str, JSON]:
    """Facts to report: the share of the k best vectors by exact search that the index finds. It is measured
    on a seeded sample of at most SAMPLE of the queries."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(queries))[:SAMPLE])
    sample = queries[chosen]
    best, _ = exact.search(sample, vectors, k)
    places, _ = search(index, sample, vectors, k)
    share = recall(places, best)
    return {"recall": share, "recall_at": int(best.shape[1]), "recall_queries": len(chosen)}


def recall(places: Ints, best: Ints) -> float:
    """The mean share of each row of `best` that the same row of `places` contains; 1 for an empty row."""
    if best.size == 0:
        return 1.0
    rows = zip(best, np.where(places < 0, -2, places), strict=True)
    return float(np.mean([np.isin(wanted, proposed).mean() for wanted, proposed in rows]))


def placed(index: Any, options: Faiss, device: str) -> tuple[Any, dict[str, JSON]]:
    """The index on the requested device, and facts to report: the device, the number of GPUs, and the reason
    if it is on the CPU although a GPU was requested."""
    if device != "cuda":
        return index, {"faiss_device": "cpu"}
    if not hasattr(faiss, "StandardGpuResources"):
        reason = "this faiss is built for CPUs; install faiss-gpu"
        return index, {"faiss_device": "cpu", "faiss_fallback": reason}
    if faiss.get_num_gpus() == 0:
        return index, {"faiss_device": "cpu", "faiss_fallback": "faiss sees no GPU"}
    cloning = faiss.GpuMultipleClonerOptions()
    cloning.shard = options.gpus == "shard"
    try:
        on_gpus = faiss.index_cpu_to_all_gpus(index, cloning)
    except RuntimeError as error:  # some kinds, such as HNSW, exist on CPUs alone, or memory is short
        return index, {"faiss_device": "cpu", "faiss_fallback": _reason(error)}
    gpus = faiss.get_num_gpus()
    return on_gpus, {"faiss_device": "cuda", "faiss_gpus": gpus, "faiss_spread": options.gpus}


def _training(vectors: NDArray[Any], index: Any, seed: int) -> Floats:
    """The vectors to train the index on: a seeded sample in the order of `vectors`, large enough for every
    cell."""
    inverted = faiss.try_extract_index_ivf(index)
    wanted = max(TRAINING, 64 * (inverted.nlist if inverted else 0))
    chosen = np.sort(np.random.default_rng(seed).permutation(len(vectors))[:wanted])
    return np.ascontiguousarray(vectors[chosen], np.float32)


def _tune(index: Any, options: Faiss) -> None:
    space, parts = faiss.ParameterSpace(), options.faiss.split(",")
    if any(part.startswith("IVF") for part in parts):
        space.set_index_parameter(index, "nprobe", options.probes)
    if any(part.startswith("HNSW") for part in parts):
        space.set_index_parameter(index, "efSearch", options.ef_search)
        space.set_index_parameter(index, "efConstruction", options.ef_construction)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _reason(error: Exception) -> str:
    """The message of an error of faiss, without the file and line of faiss's source code."""
    text = str(error).strip()
    tail = text.rsplit(": ", 1)[-1].splitlines()[0] if text else type(error).__name__
    return tail.rstrip(".")
