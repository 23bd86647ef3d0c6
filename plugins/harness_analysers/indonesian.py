"""Indonesian as Lucene's IndonesianAnalyzer: no stopwords, Tala's stems."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from harness_analysers.base import Words
from harness_analysers.light import light

VOWELS = frozenset("aeiou")


class Prefix(NamedTuple):
    """A prefix as a pattern, the kind that decides which suffixes may follow, and what stands for it."""

    pattern: re.Pattern[str]
    kind: str
    instead: str = ""


def _prefixes(*rows: tuple[str, ...]) -> tuple[Prefix, ...]:
    return tuple(Prefix(re.compile(pattern), *rest) for pattern, *rest in rows)


# "A Study of Stemming Effects on Information Retrieval in Bahasa Indonesia" (Tala, 2003)
FIRST = _prefixes(
    ("meng", "me"), ("meny(?=[aeiou])", "me", "s"), ("me[nm]?", "me"), ("peng", "peng"),
    ("peny(?=[aeiou])", "peng", "s"), ("peny", "peng"), ("pen(?=[aeiou])", "peng", "t"), ("pe[nm]", "peng"),
    ("di", "di"), ("ter", "ter"), ("ke", "ke"),
)  # fmt: skip
SECOND = _prefixes(
    ("ber", "ber"), ("bel(?=ajar$)", "ber"), ("be(?=[^aeiou]er)", "ber"), ("per", ""), ("pel(?=ajar$)", ""),
    ("pe", "pe"),
)  # fmt: skip
# Each suffix, and the prefixes beside which it is no suffix.
SUFFIXES = (("kan", {"ke", "peng", "pe"}), ("an", {"di", "me", "ter"}), ("(?<!s)i", {"ber", "ke", "peng"}))
_ENDS = tuple((re.compile(f"{suffix}$"), barred) for suffix, barred in SUFFIXES)
_PARTICLE, _POSSESSIVE = re.compile("([kl]ah|pun)$"), re.compile("([km]u|nya)$")


def indonesian(_: Any) -> Words:
    return light("id", after=stem)


def stem(word: str) -> str:
    """Takes affixes off while the word has more than two syllables. Each affix is one syllable."""
    syllables = sum(letter in VOWELS for letter in word)
    kinds: set[str] = set()

    def without(pattern: re.Pattern[str], instead: str = "") -> bool:
        nonlocal word, syllables
        match = pattern.match(word) if pattern.pattern[-1] != "$" else pattern.search(word)
        if match is None:
            return False
        word = word[: match.start()] + instead + word[match.end() :]
        syllables -= 1
        return True

    def prefix(rules: tuple[Prefix, ...]) -> bool:
        for rule in rules if syllables > 2 else ():
            if without(rule.pattern, rule.instead):
                kinds.add(rule.kind)
                return True
        return False

    def suffix() -> bool:
        return syllables > 2 and any(not kinds & barred and without(end) for end, barred in _ENDS)

    for ending in (_PARTICLE, _POSSESSIVE):
        if syllables > 2:
            without(ending)
    if not prefix(FIRST):
        prefix(SECOND)
        suffix()
    elif suffix():
        prefix(SECOND)
    return word
