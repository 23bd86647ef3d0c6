"""Porter's stemmer with the exceptions of NLTK, whose stems pke compares.

M.F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. NLTK adds a table of irregular forms
and changes a few rules; these are marked below. PyStemmer's `porter` has neither, so its stems of *holiday*,
*possibly* and *methodology* differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

IRREGULAR = {  # NLTK's table
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
# A suffix, and what replaces it. The first rule whose suffix fits is taken, even if its condition fails.
PLURAL = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
DOUBLE = tuple(
    rule.split(":")
    for rule in (
        "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous "
        "ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive "
        "biliti:ble fulli:ful"  # NLTK: bli for abli, and fulli
    ).split()
)
SINGLE = tuple(rule.split(":") for rule in "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:".split())
LAST = ("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize").split()


def stem(word: str) -> str:
    if word in IRREGULAR:  # as in NLTK before the lower case, so that `Sky` and `News` are regular
        return IRREGULAR[word]
    word = word.lower()
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _consonant(word, len(word) - 2):  # NLTK: not after a vowel
        word = word[:-1] + "i"
    return _final(_stripped(_replaced(_doubled(word), SINGLE)))


def _consonant(word: str, at: int) -> bool:
    """Whether the letter is a consonant. Y is one at the start and after a vowel."""
    if word[at] != "y":
        return word[at] not in "aeiou"
    ys = at
    while ys > 0 and word[ys - 1] == "y":
        ys -= 1
    first = ys == 0 or word[ys - 1] in "aeiou"
    return first == ((at - ys) % 2 == 0)


def _measure(stem: str) -> int:
    """How many times a consonant follows a vowel."""
    kinds = [_consonant(stem, at) for at in range(len(stem))]
    return sum(not before and after for before, after in pairwise(kinds))


def _vowel(stem: str) -> bool:
    return any(not _consonant(stem, at) for at in range(len(stem)))


def _short(word: str) -> bool:
    """Whether the word ends in consonant, vowel, consonant (not w, x or y). NLTK: or is vowel, consonant."""
    if len(word) < 2 or _consonant(word, len(word) - 2) or not _consonant(word, len(word) - 1):
        return False
    return len(word) == 2 or (_consonant(word, len(word) - 3) and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # NLTK: dies, ties
        return word[:-1]
    for suffix, other in PLURAL:
        if word.endswith(suffix):
            return word.removesuffix(suffix) + other
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):  # NLTK: died, spied
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and _vowel(stem):
            break
    else:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _consonant(stem, len(stem) - 1):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _short(stem) else stem


def _doubled(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:  # NLTK: the suffix within is replaced as well
        return _doubled(word[:-2])
    if word.endswith("logi"):  # NLTK
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, DOUBLE)


def _replaced(word: str, rules: Sequence[Sequence[str]]) -> str:
    for suffix, other in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + other if _measure(stem) > 0 else word
    return word


def _stripped(word: str) -> str:
    for suffix in LAST:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem if _measure(stem) > 1 and (suffix != "ion" or stem.endswith(("s", "t"))) else word
    return word


def _final(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _short(stem)):
            word = stem
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
