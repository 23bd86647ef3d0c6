"""The form of Lucene's analysers with stopwords and a light stemmer, and the parts that several share."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from importlib import resources

from harness_analysers.base import Words, lower


def light(
    language: str,
    before: Callable[[str], str] = lower,
    after: Callable[[str], str] = str,
    fold: Callable[[str], str] | None = None,
) -> Words:
    """Words, spelt by `before`, dropped if that is a stopword, and stemmed by `after`."""
    dropped = stopwords(language)

    def term(token: str) -> str:
        word = before(token)
        return "" if word in dropped else after(word)

    return Words(term, fold=fold)


def stopwords(language: str) -> frozenset[str]:
    """The stopwords of Lucene's analyser for a language, from the line of `stopwords.txt` with its code."""
    lines = resources.files("harness_analysers").joinpath("stopwords.txt").read_text("utf-8").splitlines()
    return frozenset(next(line.split()[1:] for line in lines if line.startswith(f"{language}: ")))


def digits(text: str) -> str:
    """The text with every decimal digit as one of 0 to 9."""
    if text.isascii():
        return text
    return "".join([str(unicodedata.digit(c)) if c.isdecimal() else c for c in text])


def suffixes(table: Mapping[int, str]) -> Callable[[str], str]:
    """A stemmer that takes one suffix off a word that has at least so many characters. The table has the
    suffixes, parted by blanks, by that number, in the order in which they are tried."""
    rules = [(least, tuple(row.split())) for least, row in table.items()]

    def stem(word: str) -> str:
        for least, ends in rules:
            if len(word) >= least and word.endswith(ends):
                return word[: -next(len(end) for end in ends if word.endswith(end))]
        return word

    return stem
