"""Measures the time and memory of `deduplicate` on millions of generated passages, and how many it keeps."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from harness.collection import corpus
from harness.collection.corpus import ROWS, Corpus
from harness.collection.maker_input import MakerInput
from harness.collection.queries import read_judgements, write_judgements
from harness_making import DeduplicateParams
from harness_making.duplicates import Deduplicate

WIDTH, WORDS, BATCH = 7, 40, 8192  # letters of a word, words of a passage, passages made at once
COPIES = 0.1  # the share of passages that copy the one `BACK` places before, with one word changed
BACK = 1000


class Generated:
    """A collection of passages of random words. About every tenth is a near copy of an earlier one."""

    def __init__(self, passages: int) -> None:
        self._passages = passages

    def rows(self) -> Iterator[pa.RecordBatch]:
        random = np.random.default_rng(0)
        letters = random.integers(97, 123, (200_000, WIDTH), np.uint8)
        words = np.concatenate([letters, np.full((len(letters), 1), 32, np.uint8)], axis=1)
        for start in range(0, self._passages, BATCH):
            size = min(BATCH, self._passages - start)
            chosen = random.integers(0, len(words), (size, WORDS))
            copied = np.flatnonzero(random.random(size) < COPIES)
            copied = copied[copied >= BACK]
            chosen[copied] = chosen[copied - BACK]
            chosen[copied, random.integers(0, WORDS, len(copied))] = random.integers(
                0, len(words), len(copied)
            )
            data = words[chosen].reshape(size, -1)
            offsets = np.arange(size + 1, dtype=np.int32) * data.shape[1]
            texts = pa.StringArray.from_buffers(size, pa.py_buffer(offsets), pa.py_buffer(data.tobytes()))
            ids = pa.array([f"p{i:09}" for i in range(start, start + size)])
            nulls = [
                pa.nulls(size, ROWS.field(name).type) for name in ("document", "title", "candidate", "order")
            ]
            columns = dict(zip(("document", "title", "candidate", "order"), nulls, strict=True))
            columns |= {"id": ids, "text": texts}
            yield pa.RecordBatch.from_arrays([columns[name] for name in ROWS.names], schema=ROWS)

    def locate(self, row: int) -> str:
        return f"row {row}"

    documents = queries = judgements = card = inputs = lambda self, *_: iter(())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run(given.passages, folder)
    finally:
        shutil.rmtree(folder)


def run(passages: int, folder: Path) -> None:
    began = time.perf_counter()
    corpus.write(Generated(passages), folder / "corpus", lambda *_: None)  # type: ignore[arg-type]
    for name in ("judgements", "working"):
        (folder / name).mkdir()
    write_judgements(iter(()), folder / "judgements")
    print(f"made {passages:,} passages in {time.perf_counter() - began:.0f} s", flush=True)
    clear_peak()
    maker_input = MakerInput(
        language="en", query_language=None, split="test", read_corpus=Corpus(folder / "corpus"),
        read_queries=None, read_judgements=read_judgements(folder / "judgements"), dataset="generated",
        folder=folder / "working", progress=Watched(),
    )  # fmt: skip
    began = time.perf_counter()
    made = Deduplicate(DeduplicateParams(by="minhash", unit="words", shingle=3)).make(maker_input)
    found = time.perf_counter() - began
    kept = sum(len(document.passages) for document in made.documents or ())
    whole = time.perf_counter() - began
    facts = maker_input.tally.facts()["facts"]
    numbers = {"passages": passages, "kept": kept, "seconds": round(found), "with reading": round(whole)}
    print(json.dumps({**numbers, **facts, **memory()}, indent=2))


class Watched:
    """Reads the anonymous memory of the process whenever the maker reports progress, and keeps the largest
    value."""

    largest = 0.0

    def __call__(self, *_: object) -> None:
        Watched.largest = max(Watched.largest, status("RssAnon"))


def memory() -> dict[str, float]:
    """The peak memory in GB: anonymous memory alone, and together with the pages of mapped files, which the
    system can take back."""
    return {"GB anonymous": round(Watched.largest, 2), "GB with mapped files": round(status("VmHWM"), 2)}


def status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(f"{name}:")]
    return int(line.split()[1]) / 1024**2


def clear_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
