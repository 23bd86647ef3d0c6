"""Parts of an index: workers turn ranges of texts into numbered terms, which are then inverted together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.plugin import IndexPart, Texts
from harness.toolkit.index import files
from harness.toolkit.text.analysis import Analyse, Encoded, Vocabulary
from harness_bm25 import storage
from harness_bm25.building import rows


def write(
    texts: Texts, folder: Path, analyse: Analyse, titles: bool, threads: int, start: int, stop: int
) -> None:
    """Writes the terms of a range of texts, as numbers in a vocabulary of this range alone."""
    vocabulary, positions = Vocabulary(analyse), list[NDArray[np.int64]]()
    batches = list(vocabulary.encode(rows(texts, titles, positions, start, stop), threads))
    words = [term.encode("utf-8", "surrogatepass") for term in vocabulary.terms]
    storage.write(folder, {
        "positions": np.concatenate([*positions, np.empty(0, np.int64)]),
        "terms": np.concatenate([*(batch.terms for batch in batches), np.empty(0, np.int32)]),
        "ends": np.concatenate([*(batch.ends for batch in batches), np.empty(0, np.int64)]),
        "batches": np.array([len(batch.ends) for batch in batches], np.int64),
        "word_bytes": np.frombuffer(b"".join(words), np.uint8),
        "word_ends": np.cumsum([0, *map(len, words)], dtype=np.int64),
    })  # fmt: skip


class Joined:
    """The terms of all parts, numbered by first appearance, as a single worker does."""

    def __init__(self, parts: Sequence[IndexPart]) -> None:
        self._parts = parts
        self._numbers: dict[bytes, int] = {}

    @property
    def terms(self) -> list[str]:
        return [word.decode("utf-8", "surrogatepass") for word in self._numbers]

    def batches(self, positions: list[NDArray[np.int64]]) -> Iterator[Encoded]:
        """Yields the batches of all parts, in order. Their positions are appended to `positions`."""
        for part in self._parts:
            positions.append(np.array(_array(part, "positions")))
            data, ends = _array(part, "word_bytes").tobytes(), _array(part, "word_ends").tolist()
            words = [data[begin:end] for begin, end in itertools.pairwise(ends)]
            known = self._numbers
            numbers = np.array([known.setdefault(word, len(known)) for word in words], np.int32)
            terms, text_ends, first, at = _array(part, "terms"), _array(part, "ends"), 0, 0
            for count in _array(part, "batches").tolist():
                ends_of_batch = np.array(text_ends[at : at + count])
                size = int(ends_of_batch[-1]) if count else 0
                yield Encoded(numbers[terms[first : first + size]], ends_of_batch)
                first, at = first + size, at + count


def _array(part: IndexPart, name: str) -> NDArray[np.generic]:
    return files.array(part.folder / f"{name}.npy")
