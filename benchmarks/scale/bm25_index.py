"""Measures the memory in which the index of BM25 is built, on generated passages of 56 words."""

from __future__ import annotations

import sys
from pathlib import Path

import growing
import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "lexical"))
import corpus as generated

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness_bm25 import BM25, retriever

LEXICON = np.array(generated.words(generated.VOCABULARY), object)


def main() -> None:
    header = ("passages", "memory before, MB", "peak, MB", "seconds", "SHA-256 of the index")
    growing.measured(__doc__, header, columns, measure)


def columns(numbers: range) -> dict[str, list[str]]:
    """Passages of words that are drawn by Zipf's law."""
    rng, most = np.random.default_rng(numbers.start), generated.TOKENS * 3 // 2
    lengths = rng.integers(generated.TOKENS // 2, most + 1, len(numbers))
    rows = LEXICON[generated.zipf(rng, (len(numbers), most))]
    texts = [" ".join(row[:size]) for row, size in zip(rows, lengths, strict=True)]
    return {"id": [f"passage-{i}" for i in numbers], "text": texts}


def measure(folder: Path, count: int) -> None:
    """Index the passages, and print what it took."""
    method, texts = retriever.Lexical(BM25(analyser="whitespace")), View(Corpus(folder))
    cost = growing.indexed(lambda index: method.index(texts, index), folder / "index")
    cells = f"{cost.before // 1024:,} | {cost.peak // 1024:,} | {cost.seconds:.0f} | {cost.digest[:16]}"
    print(f"| {count:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
