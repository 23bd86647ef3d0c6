"""Counts the queries that two splits share, exactly or nearly: training queries are no test of a model."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

NEAR = 0.8  # Jaccard similarity from which two queries are nearly the same
GRAM = 3  # characters of an n-gram


class Overlap(NamedTuple):
    """The numbers of asked queries that are in a training split."""

    same: int  # equal to a training query except for case, punctuation and white space
    near: int  # of the other queries, those with a similarity of at least NEAR to a training query


def overlap(queries: Sequence[str], trained: Sequence[str]) -> Overlap:
    """How many of the `queries` are among `trained`, exactly or nearly. The count is exact, although
    not all pairs are compared: two sets of n and m character trigrams with a Jaccard similarity of at least t
    share one of the n - ceil(t n) + 1 and m - ceil(t m) + 1 rarest trigrams (prefix filter, Chaudhuri et al.
    2006)."""
    seen = {_plain(text) for text in trained}
    open_ = [text for text in map(_plain, queries) if text and text not in seen]
    same = sum(_plain(text) in seen for text in queries if _plain(text))
    sets = [_grams(text) for text in sorted(seen) if text]
    counts = Counter(gram for grams in sets for gram in grams)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, grams in enumerate(sets):
        for gram in _rarest(grams, counts):
            places[gram].append(place)
    near = 0
    for text in open_:
        grams = _grams(text)
        candidates = {place for gram in _rarest(grams, counts) for place in places.get(gram, ())}
        near += any(_similar(grams, sets[place]) for place in candidates)
    return Overlap(same, near)


def _plain(text: str) -> str:
    """The text without case, punctuation and differences of white space."""
    letters = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(char if char.isalnum() else " " for char in letters).split())


def _grams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[i : i + GRAM] for i in range(max(1, len(padded) - GRAM + 1)))


def _rarest(grams: frozenset[str], counts: Counter[str]) -> list[str]:
    kept = len(grams) - int(-(-NEAR * len(grams) // 1)) + 1
    return sorted(grams, key=lambda gram: (counts[gram], gram))[:kept]


def _similar(first: frozenset[str], second: frozenset[str]) -> bool:
    shared = len(first & second)
    return shared >= NEAR * (len(first) + len(second) - shared)
