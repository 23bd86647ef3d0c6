"""The texts of the benchmark: texts generated from a seed, or natural texts repeated with changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.types import Batch

VOCABULARY, TOKENS, QUERY = 600_000, 56, 7
CHUNK = 50_000


class Load(NamedTuple):
    """A file of passages and a list of queries. A line of the file is a passage: lowercase words with single
    spaces between them. Queries have the same words."""

    passages: Path
    queries: list[str]


def words(count: int) -> list[str]:
    """`count` different pronounceable words. The short words come first, because they are the frequent words
    of a language."""
    syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
    base, words, size = len(syllables), [], 1
    while len(words) < count:
        for number in range(min(base**size, count - len(words))):
            mixed = number * 7919 % base**size  # words of near ranks should not be near in the alphabet
            words.append("".join(syllables[mixed // base**i % base] for i in range(size)) + "x" * (size % 2))
        size += 1
    return words


def zipf(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Numbers of words, drawn by Zipf's law with Mandelbrot's shift."""
    weights = 1 / (np.arange(VOCABULARY) + 2.7)
    edges = np.cumsum(weights) / weights.sum()
    return np.searchsorted(edges, rng.random(size))


def generated(folder: Path, passages: int, queries: int, seed: int = 1) -> Load:
    """Generated passages and queries. Words are drawn by Zipf's law with Mandelbrot's shift: 56 for a passage
    on average, and 7 for a query."""
    path = folder / f"generated-{passages}.txt"
    rng, lexicon = np.random.default_rng(seed), np.array(words(VOCABULARY), object)
    asked = [" ".join(row) for row in lexicon[zipf(rng, (queries, QUERY))]]
    if not path.exists():
        with path.open("w") as out:
            for first in range(0, passages, CHUNK):
                n = min(CHUNK, passages - first)
                lengths = rng.integers(TOKENS // 2, TOKENS * 3 // 2 + 1, n)
                rows = lexicon[zipf(rng, (n, TOKENS * 3 // 2))]
                out.writelines(" ".join(row[:size]) + "\n" for row, size in zip(rows, lengths, strict=True))
    return Load(path, asked)


def natural(folder: Path, collection: Path, passages: int, queries: int, seed: int = 1) -> Load:
    """The passages of a BEIR folder repeated until there are enough. In each copy, about every tenth word
    comes from another passage."""
    path = folder / f"{collection.name}-{passages}.txt"
    rows = [json.loads(line) for line in (collection / "corpus.jsonl").open(encoding="utf-8")]
    texts = [_plain(f"{row.get('title') or ''} {row['text']}") for row in rows]
    asked = [
        _plain(json.loads(line)["text"]) for line in (collection / "queries.jsonl").open(encoding="utf-8")
    ]
    rng = np.random.default_rng(seed)
    pool = np.array([word for text in texts for word in text.split()], object)
    if not path.exists():
        with path.open("w", encoding="utf-8") as out:
            for number in range(passages):
                row = np.array(texts[number % len(texts)].split(), object)
                first = rng.integers(0, max(len(row) - TOKENS, 1))
                row = row[first : first + TOKENS].copy()
                changed = rng.random(len(row)) < 0.1
                row[changed] = pool[rng.integers(0, len(pool), int(changed.sum()))]
                out.write(" ".join(row) + "\n")
    return Load(path, (asked * (queries // len(asked) + 1))[:queries])


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


class Lines:
    """A file with one passage on each line, with the interface of the corpus that a retriever reads."""

    language, unit = "en", "passage"

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            self.size = sum(1 for _ in file)

    def __len__(self) -> int:
        return self.size

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        stop = self.size if stop is None else min(stop, self.size)
        with self._path.open(encoding="utf-8", newline="\n") as file:
            lines: list[str] = []
            first = start
            for number, line in enumerate(file):
                if start <= number < stop:
                    lines.append(line[:-1])
                if len(lines) == size or (lines and number + 1 == stop):
                    yield Batch(np.arange(first, first + len(lines)), lines, [""] * len(lines))
                    first, lines = first + len(lines), []

    def take(self, positions: np.ndarray) -> list[str]:
        raise NotImplementedError("the benchmark never asks for texts by position")
