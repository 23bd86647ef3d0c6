"""Reads precomputed term weights from JSON lines in the form of Anserini and Pyserini."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.plugin import HarnessError
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import bare
from harness.toolkit.files.reading import refuse
from harness.toolkit.neural.tokens import Lost
from harness_splade.storage import Row

_WORD = re.compile(r"\w+")
_KINDS = {"id": ("str",), "vector": ("dict",), "contents": ("str",)}


class _Passage(msgspec.Struct, gc=False):
    id: str
    vector: dict[str, float]


class _Query(msgspec.Struct, gc=False):
    contents: str
    vector: dict[str, float]


class Spilled(NamedTuple):
    """The vectors of a corpus's texts, in the order of their file. Terms and weights are mapped from disk."""

    ordinals: NDArray[np.int64]  # int64[n]: the number of each vector's text in the corpus
    ends: NDArray[np.int64]  # int64[n]: the end of each vector in `terms` and `weights`
    terms: NDArray[np.int32]  # mapped
    weights: NDArray[np.float32]  # mapped
    vocabulary: list[str]  # the terms by their numbers
    unused: int  # vectors that belong to no text of the corpus


def spill(path: Path, ordinal_of: dict[str, int], folder: Path) -> Spilled:
    """Reads the vectors of the texts in `ordinal_of` (id -> number) from `path`, and writes them into
    `folder`. Errors name file and line."""
    numbers: dict[str, int] = {}
    ordinals: list[int] = []
    counts: list[int] = []
    seen = np.zeros(len(ordinal_of), np.bool_)
    unused = 0
    spilled = [folder / "terms.spill", folder / "weights.spill"]
    with spilled[0].open("wb") as terms, spilled[1].open("wb") as weights:
        for file in files(path):
            records = Records(file, (_Passage,), Keys(("id", "vector"), _KINDS))
            for line, record in records.numbered():
                ordinal = ordinal_of.get(record.id)
                if ordinal is None:
                    unused += 1
                    continue
                if seen[ordinal]:
                    refuse(file, line, f"'{record.id}' has a vector already; keep one of them")
                seen[ordinal] = True
                row = _row(file, line, record.vector, numbers)
                row.terms.tofile(terms)
                row.weights.tofile(weights)
                ordinals.append(ordinal)
                counts.append(len(row.terms))
    size = sum(counts)
    return Spilled(
        np.array(ordinals, np.int64),
        np.cumsum(counts, dtype=np.int64),
        np.memmap(spilled[0], np.int32, "r") if size else np.empty(0, np.int32),
        np.memmap(spilled[1], np.float32, "r") if size else np.empty(0, np.float32),
        list(numbers),
        unused,
    )


def files(path: Path) -> list[Path]:
    """The file `path` itself, or the files of the folder `path`, in the order of their names."""
    if not path.is_dir():
        return [path]
    inside = [file for file in sorted(path.iterdir()) if bare(file).suffix in (".jsonl", ".json")]
    if not inside:
        raise HarnessError(f"{path}: the folder holds no .jsonl file; name the one with the vectors")
    return inside


def _row(file: Path, line: int, vector: dict[str, float], numbers: dict[str, int]) -> Row:
    """The row of a vector. Terms that `numbers` lacks are added to it with the next number."""
    if any(weight < 0 for weight in vector.values()):
        refuse(file, line, "a weight is below 0, which an impact index cannot hold; drop the term")
    return row_of({numbers.setdefault(term, len(numbers)): weight for term, weight in vector.items()})


def row_of(weights: dict[int, float]) -> Row:
    """The row of these weights by term number, with ascending terms and without zero weights."""
    pairs = sorted(pair for pair in weights.items() if pair[1] > 0)
    terms, values = zip(*pairs, strict=True) if pairs else ((), ())
    return Row(np.array(terms, np.int32), np.array(values, np.float32))


class Queries:
    """An encoder of queries as rows. A query is looked up by its text in the file `path`, or, without a file,
    has each of its distinct words with the weight 1."""

    def __init__(self, path: Path | None, vocabulary: Sequence[str]) -> None:
        self._path = path
        self._numbers = {term: number for number, term in enumerate(vocabulary)}
        self._vectors = None if path is None else dict(self._read(path))

    def __call__(self, queries: Sequence[str]) -> tuple[list[Row], Lost]:
        return [self._row(query) for query in queries], Lost()

    def _row(self, query: str) -> Row:
        if self._vectors is None:
            vector = dict.fromkeys(_WORD.findall(query.lower()), 1.0)
        elif query in self._vectors:
            vector = self._vectors[query]
        else:
            raise HarnessError(f"{self._path}: no line has the contents '{query[:60]}'; weigh every query")
        return row_of({self._numbers[term]: vector[term] for term in vector if term in self._numbers})

    @staticmethod
    def _read(path: Path) -> Iterator[tuple[str, dict[str, float]]]:
        vectors: dict[str, dict[str, float]] = {}
        for file in files(path):
            records = Records(file, (_Query,), Keys(("contents", "vector"), _KINDS))
            for line, record in records.numbered():
                if vectors.setdefault(record.contents, record.vector) != record.vector:
                    refuse(file, line, "another line has this text with other weights; keep one of them")
        yield from vectors.items()
