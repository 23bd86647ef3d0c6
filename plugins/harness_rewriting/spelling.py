"""Replaces words of queries that the corpus lacks with similar words that the corpus has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.plugin import Hits, Rewritten, Searcher, Texts
from harness.toolkit.index import files
from harness_rewriting import SpellingParams

FORMAT = files.Format("harness-rewriting-words", 1)
WORD = re.compile(r"[^\W\d_]+")
LONGEST = 32
# the characters of scripts without spaces between words
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Spelling:
    def __init__(self, params: SpellingParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Count the words of the corpus in lower case, and write them with their counts."""
        counts: Counter[str] = Counter()
        files.begin(folder)
        for batch in texts.batches():
            for text in (*batch.texts, *batch.titles):
                counts.update(word.lower() for word in WORD.findall(text) if len(word) <= LONGEST)
        words = sorted(counts)
        encoded = "\n".join(words).encode("utf-8", "surrogatepass")
        np.save(folder / "words.npy", np.frombuffer(encoded, np.uint8))
        np.save(folder / "counts.npy", np.array([counts[word] for word in words], np.int64))
        files.finish(folder, FORMAT, ["words.npy", "counts.npy"])

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Corrected:
        assert folder is not None
        files.read_facts(folder, FORMAT)
        raw = files.array(folder / "words.npy").tobytes().decode("utf-8", "surrogatepass")
        return Corrected(self._params, raw.split("\n") if raw else [], files.array(folder / "counts.npy"))


class Corrected:
    def __init__(self, params: SpellingParams, words: Sequence[str], counts: NDArray[np.int64]) -> None:
        self._params, self._counts = params, counts
        self._words = words
        self._count_of = dict(zip(words, counts.tolist(), strict=True))
        self._lengths = np.array([len(word) for word in words], np.int64)
        width = int(self._lengths.max(initial=1))
        self._codes = np.zeros((len(words), width), np.int32)
        for i, word in enumerate(words):
            self._codes[i, : len(word)] = [ord(letter) for letter in word]
        self._known: dict[str, str] = {}

    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        return Rewritten(texts=[WORD.sub(lambda match: self._right(match[0]), query) for query in queries])

    def _right(self, word: str) -> str:
        """The word itself, or its correction in lower case if it is misspelt."""
        lower = word.lower()
        if not self._params.length <= len(lower) <= LONGEST or UNSPACED.search(lower):
            return word
        if self._count_of.get(lower, 0) >= self._params.least:
            return word
        if lower not in self._known:
            self._known[lower] = self._nearest(lower)
        return self._known[lower] or word

    def _nearest(self, word: str) -> str:
        """The nearest word that the corpus has often enough, or "" if none is near enough. Of equally near
        words, the most frequent is returned, then the first in the alphabet."""
        near = np.abs(self._lengths - len(word)) <= self._params.distance
        rows = np.flatnonzero(near & (self._counts >= self._params.least))
        letters = np.array([ord(letter) for letter in word], np.int32)
        distances = np.empty(len(rows), np.int64)
        measure(letters, self._codes, self._lengths, rows, distances)
        within = distances <= self._params.distance
        if not within.any():
            return ""
        rows, distances = rows[within], distances[within]
        return self._words[int(rows[np.lexsort((rows, -self._counts[rows], distances))[0]])]


@nb.njit(cache=True)
def measure(
    word: NDArray[np.int32], codes: NDArray[np.int32], lengths: NDArray[np.int64], rows: NDArray[np.int64],
    distances: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write the distance from `word` to each word of `rows` into `distances`. It is Damerau's distance with
    each place edited at most once: it counts insertions, deletions, substitutions and swaps of neighbours."""
    n = len(word)
    table = np.empty((n + 1, codes.shape[1] + 1), np.int64)
    for place in range(len(rows)):
        row, m = rows[place], lengths[rows[place]]
        for i in range(n + 1):
            table[i, 0] = i
        for j in range(m + 1):
            table[0, j] = j
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                same = 0 if word[i - 1] == codes[row, j - 1] else 1
                best = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + same)
                if i > 1 and j > 1 and word[i - 1] == codes[row, j - 2] and word[i - 2] == codes[row, j - 1]:
                    best = min(best, table[i - 2, j - 2] + 1)
                table[i, j] = best
        distances[place] = table[n, m]
