"""French, German and Spanish as Lucene's analysers: one spelling, no stopwords, Savoy's light stems."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from harness_analysers.base import Words, lower
from harness_analysers.light import light

ELIDED = frozenset(("l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu"))


class Rule(NamedTuple):
    """In a word of `least` letters or more, `suffix` becomes `instead`; no rule follows a `last` one."""

    least: int
    suffix: str
    instead: str
    last: bool = True


# "Light Stemming Approaches for the French, Portuguese, German and Hungarian Languages" (Savoy, 2006)
FRENCH = (
    Rule(10, "issement", "ir"), Rule(9, "issant", "ir"), Rule(8, "ivement", "if"), Rule(7, "ement", "e"),
    Rule(12, "ficatrice", "fier"), Rule(11, "ficateur", "fier"), Rule(10, "catrice", "quer"),
    Rule(9, "cateur", "quer"), Rule(9, "atrice", "er"), Rule(8, "ateur", "er"),
    Rule(7, "trice", "teur", False), Rule(6, "ième", ""), Rule(8, "teuse", "ter"), Rule(7, "teur", "ter"),
    Rule(6, "euse", "eu"), Rule(9, "ère", "er"), Rule(8, "ive", "if"),
    Rule(5, "folle", "fou"), Rule(5, "molle", "mou"),
    Rule(10, "nnelle", "n"), Rule(10, "nnel", "n"), Rule(5, "ète", "et", False), Rule(9, "ique", "", False),
    Rule(9, "esse", "e"), Rule(8, "inage", "in"), Rule(13, "ualisation", "uel"), Rule(10, "isation", ""),
    Rule(10, "isateur", ""), Rule(9, "ation", ""), Rule(9, "ition", ""),
)  # fmt: skip
_FRENCH_LETTERS = str.maketrans("àáâôèéêùûîç", "aaaoeeeuuic")
_UMLAUT = re.compile("([ao])e|(?<![aeiouqyäöü])(u)e")  # an umlaut written with e
_GERMAN_LETTERS = str.maketrans("äàáâöòóôïìíîüùúû", "aaaaooooiiiiuuuu") | {ord("ß"): "ss"}
_BEFORE_S = frozenset("bdfghklmnt")
_SPANISH_LETTERS = str.maketrans("àáâäòóôöèéêëùúûüìíîï", "aaaaooooeeeeuuuuiiii")


def french(_: Any) -> Words:
    return light("fr", lambda token: lower(_without_article(token)), french_stem)


def german(_: Any) -> Words:
    return light("de", after=german_stem)


def spanish(_: Any) -> Words:
    return light("es", after=spanish_stem)


def _without_article(token: str) -> str:
    mark = next((i for i, letter in enumerate(token) if letter in "'’"), -1)
    return token[mark + 1 :] if mark >= 0 and lower(token[:mark]) in ELIDED else token


def french_stem(word: str) -> str:
    """A word without its plural, its suffix, its accents, doubled letters and a last r or e."""
    if len(word) > 5 and word.endswith("x"):
        word = word[:-2] + "l" if word.endswith("aux") and word[-4] != "e" else word[:-1]
    for plural in "xs":
        if len(word) > 3:
            word = word.removesuffix(plural)
    for rule in FRENCH:
        if len(word) >= rule.least and word.endswith(rule.suffix):
            word = word[: len(word) - len(rule.suffix)] + rule.instead
            if rule.last:
                break
    if len(word) > 4:
        word = re.sub(r"([^\W\d_])\1+", r"\1", word.translate(_FRENCH_LETTERS))
    if len(word) > 4:
        word = word.removesuffix("ie")
    if len(word) > 4:
        word = word.removesuffix("r").removesuffix("e").removesuffix("e")
        if word[-1] == word[-2] and word[-1].isalpha():
            word = word[:-1]
    return word


def german_stem(word: str) -> str:
    """A word without umlauts and, in two steps, its inflection."""
    word = _UMLAUT.sub(r"\1\2", word).translate(_GERMAN_LETTERS)
    if len(word) > 5 and word.endswith("ern"):
        word = word[:-3]
    elif len(word) > 4 and word.endswith(("em", "en", "er", "es")):
        word = word[:-2]
    elif len(word) > 3 and (word.endswith("e") or (word.endswith("s") and word[-2] in _BEFORE_S)):
        word = word[:-1]
    if len(word) > 5 and word.endswith("est"):
        return word[:-3]
    inflected = word.endswith(("er", "en")) or (word.endswith("st") and word[-3:-2] in _BEFORE_S)
    return word[:-2] if len(word) > 4 and inflected else word


def spanish_stem(word: str) -> str:
    """A word without accents, gender and plural ("Report on CLEF-2001 Experiments", Savoy, 2001)."""
    if len(word) < 5:
        return word
    word = word.translate(_SPANISH_LETTERS)
    if word.endswith(("o", "a", "e")):
        return word[:-1]
    if word.endswith("ces"):
        return word[:-3] + "z"
    return word[:-2] if word.endswith(("os", "as", "es")) else word
