"""Measures the memory in which the command itself scores rows. The corpora have no index: their passages are
alike, and the rankings are random."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import growing
import numpy as np

from harness import catalogue
from harness.collection.corpus import Corpus
from harness.collection.judgements import judging
from harness.collection.queries import Judgements, Queries
from harness.execution.open_dataset import Opened
from harness.running import scored_numbers
from harness.scoring import protocols
from harness.types import Hits

QUERIES, DEPTH, RANKINGS, DOCUMENT = 1000, 1000, 4, 4
TEXT = "a passage of three hundred bytes " * 9
PEAKS = ("RssAnon", "RssFile", "VmRSS")


def columns(numbers: range) -> dict[str, list[str]]:
    """Passages that differ only in their ids and documents."""
    return {
        "id": [f"p{i}" for i in numbers], "document": [f"d{i // DOCUMENT}" for i in numbers],
        "title": [f"title {i // DOCUMENT}" for i in numbers], "text": [TEXT] * len(numbers),
    }  # fmt: skip


def main() -> None:
    header = ("passages", "own memory, MB", "pages of mapped files, MB", "both, MB", "seconds")
    growing.measured(__doc__, header, columns, measure)


def measure(folder: Path, count: int) -> None:
    """Score four random rankings of 1,000 queries, 1,000 passages each, with columns of passages and of
    documents, and write their runs. Print the peak memory of this process."""
    peaks, ended = dict.fromkeys(PEAKS, 0), threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in peaks:
                    peaks[name] = max(peaks[name], int(value.split()[0]) // 1024)

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    random, corpus = np.random.default_rng(0), Corpus(folder)
    ids = [f"q{i}" for i in range(QUERIES)]
    nothing: list[list[str]] = [[] for _ in ids]
    queries = Queries(ids, [""] * QUERIES, nothing, nothing, nothing)
    passages = [f"p{i}" for i in random.choice(count, QUERIES, replace=False).tolist()]
    numbers = np.arange(QUERIES, dtype=np.int32)
    judged = judging(corpus, queries, Judgements(ids, passages, numbers, numbers, np.ones(QUERIES, np.int32)))
    opened = Opened(corpus, queries, judged.judged, {}, {}, {})
    measures = ["nDCG@10", "R@100", "RR@10"]
    scoring, problems = protocols.of_measures(measures, DEPTH, catalogue.load(), documents=True)
    assert scoring is not None, problems
    for number in range(RANKINGS):
        positions = random.integers(0, count // DEPTH, (QUERIES, DEPTH)) + np.arange(DEPTH) * (count // DEPTH)
        scores = np.sort(random.random((QUERIES, DEPTH), np.float32), axis=1)[:, ::-1]
        hits = Hits(random.permuted(positions, axis=1), np.ascontiguousarray(scores))
        _, values = scored_numbers.scored(hits, opened, scoring, 0)
        scored_numbers.write_files(folder / "out", opened, "alike", f"random-{number}", hits, values)
    ended.set()
    thread.join()
    cells = " | ".join(f"{peaks[name]:,}" for name in PEAKS)
    print(f"| {count:,} | {cells} | {time.perf_counter() - began:.0f} |", flush=True)


if __name__ == "__main__":
    main()
