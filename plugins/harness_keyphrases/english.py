"""The embedded tagger for English: an averaged perceptron over words, endings and neighbours.

The tagger has six classes, of which only nouns and adjectives are used. Its weights were trained on the tags
that spaCy's en_core_web_sm gives to open texts (`tools/train_tagger.py`). The weights contain none of these
texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import TypeAlias

import zstandard

# The digest of english.tsv.zst. It is in the source so that other weights change the digest of the package's
# sources, and with it the keys of steps in an editable install.
DIGEST = "bf60ee9d3aa32af203d1882600d54b25fc3479dad85cb97c36fe13ffe21dc3a8"
CLASSES = "NAVRDO"  # noun, adjective, verb, adverb, determiner or possessive, other
KEPT = "NA"

# Words with their hyphens, numbers and abbreviations with dots are tokens. Clitics, and all other characters
# one by one, are tokens too.
TOKEN = re.compile(
    r"(?:[^\W\d_]\.){2,}|\d+(?:[.,:]\d+)+|[^\W_]+(?:-[^\W_]+)*|['’](?:s|re|ve|ll|d|m|t)\b|\S", re.IGNORECASE
)
START = "<s>"
END = "</s>"

Weights: TypeAlias = Mapping[str, Sequence[int]]  # a feature -> its weight for each class


def load() -> tuple[dict[str, str], dict[str, tuple[int, ...]]]:
    """The class of each word that always has the same class, and the weights of each feature."""
    fixed: dict[str, str] = {}
    weights: dict[str, tuple[int, ...]] = {}
    data = resources.files("harness_keyphrases").joinpath("english.tsv.zst").read_bytes()
    for line in zstandard.decompress(data).decode().split("\n")[:-1]:
        feature, _, value = line.partition("\t")
        if len(value) == 1:
            fixed[feature] = value
        else:
            weights[feature] = tuple(map(int, value.split(" ")))
    return fixed, weights


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]


def shape(word: str) -> str:
    if word.isdigit():
        return "0"
    if word.isupper():
        return "AA" if len(word) > 1 else "A"
    return "Aa" if word[0].isupper() else "a" if word[0].isalpha() else "."


def features(words: Sequence[str], lower: Sequence[str], i: int, before: str, last: str) -> Iterator[str]:
    """The features of token i of a line. The two tokens before it have the classes `before` and `last`.
    `lower` has two more entries at each end, so that token i is lower[i + 2]."""
    word, previous, following = lower[i + 2], lower[i + 1], lower[i + 3]
    form = shape(words[i])
    yield "b"
    yield "w" + word
    yield "3" + word[-3:]
    yield "2" + word[-2:] + last
    yield "p" + word[:2] + word[-1:]
    yield "t" + before + last
    yield "x" + last + word
    yield "-" + previous
    yield "+" + following
    yield "e" + following[-3:]
    yield "-2" + lower[i]
    yield "+2" + lower[i + 4]
    yield "s" + form + ("^" if previous == START else last) + shape(following)


def tag(words: Sequence[str], fixed: Mapping[str, str], weights: Weights) -> str:
    """The classes of a line's words, one character of CLASSES for each."""
    lower = [START, START, *(word.lower() for word in words), END, END]
    tags: list[str] = []
    before = last = "^"
    for i, word in enumerate(words):
        known = fixed.get(lower[i + 2])
        if known is None:
            known = guess(features(words, lower, i, before, last), weights) if word[0].isalpha() else "O"
        tags.append(known)
        before, last = last, known
    return "".join(tags)


def guess(features: Iterator[str], weights: Weights) -> str:
    """The class with the largest sum of weights over the `features`. Of classes with equal sums, the
    first is returned."""
    n = a = v = r = d = o = 0
    for feature in features:
        row = weights.get(feature)
        if row is not None:
            n += row[0]
            a += row[1]
            v += row[2]
            r += row[3]
            d += row[4]
            o += row[5]
    sums = (n, a, v, r, d, o)
    return CLASSES[sums.index(max(sums))]
