"""Measures the memory in which the retriever `vectors` matches the ids of vectors with those of a corpus."""

from __future__ import annotations

import hashlib
import threading
import time
from pathlib import Path

import growing
import numpy as np

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness_vectors import VectorsParams, build

DIMENSION = 16  # few numbers, so that the ids take most of the memory


def main() -> None:
    header = (
        "passages",
        "memory before, MB",
        "peak, MB",
        "bytes a passage",
        "seconds",
        "SHA-256 of the index",
    )
    growing.measured(__doc__, header, columns, measure, prepare)


def columns(numbers: range) -> dict[str, list[str]]:
    """Passages that differ only in their ids."""
    return {"id": [f"passage-{i}" for i in numbers], "text": ["a text"] * len(numbers)}


def prepare(folder: Path, passages: int) -> None:
    """Write the vectors, with their ids in a random order."""
    order = np.random.default_rng(0).permutation(passages)
    with (folder / "ids.txt").open("w") as file:
        file.writelines(f"passage-{place}\n" for place in order.tolist())
    np.save(folder / "vectors.npy", np.random.default_rng(1).random((passages, DIMENSION), np.float32))


def measure(folder: Path, count: int) -> None:
    """Index the vectors, whose ids are in a random order, and print the peak of this process's own memory
    (mapped files do not count) and a digest of the index."""
    params = VectorsParams(passages=folder / "vectors.npy", passage_ids=folder / "ids.txt")
    method, texts = build(params), View(Corpus(folder))
    before, peak, ended = own_memory(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            peak[0] = max(peak[0], own_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    (folder / "index").mkdir()
    method.index(texts, folder / "index")
    seconds = time.perf_counter() - began
    ended.set()
    thread.join()
    digest = hashlib.sha256()
    for path in sorted((folder / "index").glob("*.npy")):
        digest.update(path.read_bytes())
    each = (peak[0] - before) * 1024 / count
    cells = f"{before // 1024:,} | {peak[0] // 1024:,} | {each:.0f} | {seconds:.0f}"
    print(f"| {count:,} | {cells} | {digest.hexdigest()[:16]} |", flush=True)


def own_memory() -> int:
    """The memory of this process in KB, without mapped files."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])


if __name__ == "__main__":
    main()
