"""English as Lucene's EnglishAnalyzer: possessives, lowercase, its 33 stopwords, Porter's stems."""

from __future__ import annotations

from typing import Any

import Stemmer

from harness_analysers.base import Words, lower
from harness_analysers.porter import stem

STOPWORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this",
    "to", "was", "will", "with",
))  # fmt: skip
# parts of words that Lucene's Porter stems differently: compiled Snowball undoubles fewer consonants
_UNDOUBLED = tuple(2 * letter + end for letter in "chjkqvwxy" for end in ("ed", "ing"))
_AMENDED = ("bli", "bly", "logi", "logy", *_UNDOUBLED)


def build(_: Any) -> Words:
    porter = Stemmer.Stemmer("porter", 0).stemWord

    def term(token: str) -> str:
        if len(token) > 1 and token[-1] in "sS" and token[-2] in "'’＇":
            token = token[:-2]
        word = lower(token)
        if word in STOPWORDS:
            return ""
        if len(word) <= 2:
            return word
        return stem(word) if any(part in word for part in _AMENDED) else str(porter(word))

    return Words(term)
