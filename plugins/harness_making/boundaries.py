"""A small, seeded model that finds passage ends in running text by labelling tokens (T2Ranking, section 4.2).

Every place where a token ends has a label: 1 if a paragraph ends there, else 0. The model is a logistic
regression over hashed features of the characters around the place, trained by SGD on the cross-entropy
(equations 1 and 2). The authors use a pretrained encoder; this model needs no weights and trains in seconds.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Places = NDArray[np.int64]  # int64[n]: offsets in a text, ascending; a passage ends before each offset
BUCKETS = 1 << 18
NEAR = 6  # characters on each side of a place from which n-grams are taken
STOPS = frozenset("。！？!?；;…．.：:")
CLOSING = frozenset("”\"'』」）)】]》")


class Running(NamedTuple):
    """A document as running text, and the offset at which each paragraph but the last ends."""

    text: str
    ends: Places


def running(paragraphs: Sequence[str], characters: bool) -> Running:
    """The paragraphs joined to running text. No line end shows where a paragraph ends. Paragraphs are joined
    by a blank, or by nothing if `characters` is true (a language without blanks between words)."""
    joint = "" if characters else " "
    texts = [paragraph.strip() for paragraph in paragraphs]
    texts = [" ".join(text.split()) for text in texts if text]
    ends, at = [], 0
    for text in texts[:-1]:
        at += len(text) + len(joint)
        ends.append(at)
    return Running(joint.join(texts), np.array(ends, np.int64))


def places(text: str, characters: bool) -> Places:
    """The places at which a passage may end: after each character, or after each word and its blank."""
    if characters:
        return np.arange(1, len(text), dtype=np.int64)
    return np.array([i + 1 for i, letter in enumerate(text[:-1]) if letter == " "], np.int64)


def sentence_ends(text: str, characters: bool) -> Places:
    """The places at which sentences end: after a full stop, question mark or the like, and the closing quotes
    or brackets that follow it. In text with blanks, a sentence ends only at a blank."""
    ends = []
    for place in places(text, characters).tolist():
        left = place - 1 if characters else place - 2
        while left >= 0 and text[left] in CLOSING:
            left -= 1
        if left >= 0 and text[left] in STOPS and not (characters and text[place] in STOPS | CLOSING):
            ends.append(place)
    return np.array(ends, np.int64)


def features(text: str, where: Places) -> NDArray[np.int64]:
    """int64[n, features]: the hashed features of each place, as numbers below BUCKETS."""
    padded = f"{' ' * NEAR}{text}{' ' * NEAR}"
    rows = np.empty((len(where), 2 * 4 + 5), np.int64)
    since = 0
    for row, place in enumerate(where.tolist()):
        at = place + NEAR
        left, right = padded[at - NEAR : at].rstrip(), padded[at : at + NEAR]
        left = left or " "
        names = [f"l{left[-size:]}" for size in (1, 2, 3, 4)]
        names += [f"r{right[:size]}" for size in (1, 2, 3, 4)]
        stop = left[-1] in STOPS or left[-1] in CLOSING
        names += [
            f"b{left[-1]}|{right[0]}",
            f"c{_kind(left[-1])}|{_kind(right[0])}|{_kind(right[1])}",
            f"s{stop}|{right[:2]}",
            f"d{stop}|{min(9, (place - since) // 40)}",
            "bias",
        ]
        rows[row] = [zlib.crc32(name.encode()) % BUCKETS for name in names]
        if stop:
            since = place
    return rows


def _kind(letter: str) -> str:
    if letter.isdigit():
        return "9"
    if letter.isupper():
        return "A"
    if letter.isalpha():
        return "a"
    return " " if letter.isspace() else "." if letter in STOPS else "-"


class Boundaries(NamedTuple):
    """A trained model of passage ends."""

    weights: NDArray[np.float64]  # float64[BUCKETS]
    characters: bool

    def probabilities(self, text: str) -> tuple[Places, NDArray[np.float64]]:
        where = places(text, self.characters)
        if not len(where):
            return where, np.zeros(0)
        scores = self.weights[features(text, where)].sum(axis=1)
        return where, 1 / (1 + np.exp(-np.clip(scores, -30, 30)))

    def ends(self, text: str, sigma: float) -> Places:
        """The places whose probability is at least `sigma`. A lower `sigma` gives more passages."""
        where, probabilities = self.probabilities(text)
        return where[probabilities >= sigma]


def trained(documents: Sequence[Running], characters: bool, epochs: int, seed: int) -> Boundaries:
    """The model trained on these documents. The same documents and seed give the same weights."""
    rows, labels = [], []
    for document in documents:
        where = places(document.text, characters)
        if len(where):
            rows.append(features(document.text, where))
            labels.append(np.isin(where, document.ends))
    weights = np.zeros(BUCKETS)
    if rows:
        matrix, targets = np.concatenate(rows), np.concatenate(labels).astype(np.float64)
        random = np.random.default_rng(seed)
        for epoch in range(epochs):
            order = random.permutation(len(matrix))
            _descent()(weights, matrix, targets, order, 0.2 / (1 + epoch))
    return Boundaries(weights, characters)


@functools.cache
def _descent() -> Any:
    @njit(cache=True)
    def descent(weights: Any, matrix: Any, targets: Any, order: Any, rate: float) -> None:
        """One pass of SGD on the cross-entropy, with a small L2 penalty."""
        for i in range(len(order)):
            row = order[i]
            score = 0.0
            for j in range(matrix.shape[1]):
                score += weights[matrix[row, j]]
            score = min(30.0, max(-30.0, score))
            slope = rate * (1 / (1 + np.exp(-score)) - targets[row])
            for j in range(matrix.shape[1]):
                weights[matrix[row, j]] -= slope + rate * 1e-6 * weights[matrix[row, j]]

    return descent


class Found(NamedTuple):
    """Counts of the boundaries of a document."""

    right: int  # boundaries that were set and are true
    placed: int  # boundaries that were set
    true: int  # boundaries that the document has


def f1(counts: Sequence[Found] | NDArray[np.int64]) -> tuple[float, float, float]:
    """Precision, recall and F1 over all documents together."""
    right, placed, true = np.asarray(counts, np.int64).reshape(-1, 3).sum(axis=0).tolist()
    precision = right / placed if placed else 0.0
    recall = right / true if true else 0.0
    return precision, recall, 2 * right / (placed + true) if placed + true else 0.0


def compared(ends: Places, document: Running) -> Found:
    return Found(len(np.intersect1d(ends, document.ends)), len(ends), len(document.ends))
