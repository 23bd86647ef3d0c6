"""Measures the memory in which the retriever `vectors` matches the ids of vectors with those of a corpus."""

from __future__ import annotations

from pathlib import Path

import growing
import numpy as np

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness_vectors import VectorsParams
from harness_vectors.retriever import Vectors

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
    """Index the vectors, whose ids are in a random order, and print what it took."""
    params = VectorsParams(passages=folder / "vectors.npy", passage_ids=folder / "ids.txt")
    method, texts = Vectors(params), View(Corpus(folder))
    cost = growing.indexed(lambda index: method.index(texts, index), folder / "index")
    each = (cost.peak - cost.before) * 1024 / count
    cells = f"{cost.before // 1024:,} | {cost.peak // 1024:,} | {each:.0f} | {cost.seconds:.0f}"
    print(f"| {count:,} | {cells} | {cost.digest[:16]} |", flush=True)


if __name__ == "__main__":
    main()
