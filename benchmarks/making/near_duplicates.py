"""Measures `deduplicate` by MinHash on generated passages: the time and memory for millions of them, and with
--quality the recall and precision on planted copies whose similarity is counted in plain Python."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from harness.collection import corpus
from harness.collection.corpus import ROWS, Corpus
from harness.collection.maker_input import MakerInput
from harness.collection.queries import read_judgements, write_judgements
from harness_making import DeduplicateParams
from harness_making.duplicates import Deduplicate, equal_texts
from harness_making.near import near_duplicates

WIDTH, WORDS, BATCH = 7, 40, 8192  # letters of a word, words of a passage, passages made at once
COPIES = 0.1  # the share of passages that are copies of the one BACK places before, with some words changed
BACK = 1024  # passages of one block of this size are copied into the next block; copies are not copied
SHINGLE = 3


class Generated:
    """A collection of passages of random words. `planted` has the positions of the copies that were made, and
    how many words of each were changed."""

    def __init__(self, passages: int, changes: int) -> None:
        self._passages, self._changes = passages, changes
        self.planted: list[np.ndarray] = []  # int64[copies, 2] of each batch

    def rows(self) -> Iterator[pa.RecordBatch]:
        random = np.random.default_rng(0)
        letters = random.integers(97, 123, (200_000, WIDTH), np.uint8)
        words = np.concatenate([letters, np.full((len(letters), 1), 32, np.uint8)], axis=1)
        for start in range(0, self._passages, BATCH):
            size = min(BATCH, self._passages - start)
            chosen = random.integers(0, len(words), (size, WORDS))
            second = np.arange(size) // BACK % 2 == 1
            copied = np.flatnonzero(second & (random.random(size) < 2 * COPIES))
            chosen[copied] = chosen[copied - BACK]
            changes = random.integers(1, self._changes + 1, len(copied))
            for row, count in zip(copied.tolist(), changes.tolist(), strict=True):
                places = random.permutation(WORDS)[:count]
                chosen[row, places] = random.integers(0, len(words), count)
            self.planted.append(np.stack([start + copied, changes], axis=1))
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
    parser.add_argument("--quality", action="store_true", help="copies with 1 to 8 words changed")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        began = time.perf_counter()
        generated = Generated(given.passages, 8 if given.quality else 1)
        corpus.write(generated, folder / "corpus", lambda *_: None)  # type: ignore[arg-type]
        report(f"{given.passages:,} passages written", began)
        for name in ("judgements", "working"):
            (folder / name).mkdir()
        write_judgements(iter(()), folder / "judgements")
        maker_input = MakerInput(
            language="en", query_language=None, split="test", read_corpus=Corpus(folder / "corpus"),
            read_queries=None, read_judgements=read_judgements(folder / "judgements"), dataset="generated",
            folder=folder / "working",
        )  # fmt: skip
        if given.quality:
            quality(maker_input, np.concatenate(generated.planted))
        else:
            speed(maker_input, folder / "kept")
    finally:
        shutil.rmtree(folder)


class _Documents:
    def __init__(self, documents: Any) -> None:
        self.documents = lambda: iter(documents)


def speed(maker_input: MakerInput, out: Path) -> None:
    """Finds the near-duplicates, and writes the passages that stay as a stage of a suite does."""
    clear_peak()
    began = time.perf_counter()
    made = Deduplicate(DeduplicateParams(by="minhash", unit="words", shingle=SHINGLE)).make(maker_input)
    report("near-duplicates", began)
    clear_peak()
    began = time.perf_counter()
    out.mkdir()
    corpus.write(_Documents(made.documents), out, lambda *_: None)  # type: ignore[arg-type]
    report("kept passages written", began)
    print(json.dumps({"kept": Corpus(out).passages, **maker_input.tally.facts()["facts"]}, indent=2))


def quality(maker_input: MakerInput, planted: np.ndarray) -> None:
    """Recall over the planted copies that are similar enough, and precision over all that were removed, at
    three levels of similarity."""
    read = maker_input.corpus
    sets = [shingles(text) for text in read.texts(np.arange(read.passages))]
    equal = equal_texts(maker_input)
    values = np.array([jaccard(sets[copy], sets[copy - BACK]) for copy in planted[:, 0]])
    for similarity in (0.8, 0.65, 0.5):
        params = DeduplicateParams(by="minhash", unit="words", shingle=SHINGLE, similarity=similarity)
        stands_for = near_duplicates(maker_input, params, equal)
        expected = planted[values >= similarity, 0]
        hit = stands_for[expected] == expected - BACK
        removed = np.flatnonzero(stands_for != np.arange(len(stands_for)))
        right = sum(jaccard(sets[row], sets[stands_for[row]]) >= similarity for row in removed)
        print(
            f"similarity {similarity}: {len(expected):,} planted, recall {hit.mean():.5f}; "
            f"{len(removed):,} removed, precision {right / len(removed):.5f}"
        )
    for count in np.unique(planted[:, 1]):
        mean = values[planted[:, 1] == count].mean()
        print(f"{count} words changed: mean similarity {mean:.3f}")


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}


def jaccard(one: set[Any], other: set[Any]) -> float:
    return len(one & other) / len(one | other)


def report(what: str, began: float) -> None:
    """Print the time, and the largest resident memory: all pages, also those of mapped files."""
    seconds = time.perf_counter() - began
    print(f"{what}: {seconds:.0f} s, at most {status('VmHWM'):.2f} GB resident", flush=True)


def status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(f"{name}:")]
    return int(line.split()[1]) / 1024**2


def clear_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
