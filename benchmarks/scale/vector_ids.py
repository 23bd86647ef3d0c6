"""Measures the memory in which the retriever `vectors` matches the ids of vectors with those of a corpus."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.corpus_rows import ROWS, checked
from harness.collection.corpus_write import write_rows
from harness_vectors import VectorsParams, build

DIMENSION, BATCH = 16, 8192  # few numbers, so that the ids take most of the memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="for the corpora, which are removed")
    parser.add_argument("--opened", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.opened:  # in a process of its own
        measure(options.folder, options.passages[0])
        return
    print("| passages | memory before, MB | peak, MB | bytes a passage | seconds | SHA-256 of the index |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for count in options.passages:
        folder = options.folder / f"ids-{count}"
        write_rows(checked(rows(count)), lambda row: f"row {row}", folder, lambda done, total: None)
        order = np.random.default_rng(0).permutation(count)
        with (folder / "ids.txt").open("w") as file:
            file.writelines(f"passage-{place}\n" for place in order.tolist())
        np.save(folder / "vectors.npy", np.random.default_rng(1).random((count, DIMENSION), np.float32))
        command = [sys.executable, __file__, str(count), "--folder", str(folder), "--opened"]
        subprocess.run(command, check=True)
        shutil.rmtree(folder)


def rows(passages: int) -> Iterator[pa.RecordBatch]:
    """Passages that differ only in their ids."""
    for start in range(0, passages, BATCH):
        numbers = range(start, min(start + BATCH, passages))
        columns = {"id": [f"passage-{i}" for i in numbers], "text": ["a text"] * len(numbers)}
        arrays = [pa.array(columns.get(field.name, [None] * len(numbers)), field.type) for field in ROWS]
        yield pa.RecordBatch.from_arrays(arrays, schema=ROWS)


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
