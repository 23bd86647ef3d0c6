"""Arabic and Persian as Lucene's analysers: forms of a letter are one; Arabic is stemmed (light10)."""

from __future__ import annotations

from typing import Any

from harness_analysers.base import Words, lower
from harness_analysers.light import digits, light

# Lucene's ArabicNormalizer: forms of alef, yeh and heh are one; marks of vowels and the stretching line go.
_ALEF, _YEH, _KAF, _HEH = "\u0627", "\u064a", "\u0643", "\u0647"
_MARKS = "\u0640\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"
_ARABIC = str.maketrans("\u0622\u0623\u0625\u0649\u0629", 3 * _ALEF + _YEH + _HEH, _MARKS)
# Its PersianNormalizer: Persian letters become Arabic ones, and the hamza above goes.
_PERSIAN = str.maketrans("\u06cc\u06d2\u06a9\u06c0\u06c1", 2 * _YEH + _KAF + 2 * _HEH, "\u0654")
# "Light Stemming for Arabic Information Retrieval" (Larkey, Ballesteros and Connell, 2007): one prefix goes,
# and each suffix in turn, where two letters are left.
_PREFIXES = ("ال", "وال", "بال", "كال", "فال", "لل", "و")
_SUFFIXES = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")


def arabic(_: Any) -> Words:
    return light("ar", lambda token: digits(lower(token)), lambda word: stem(word.translate(_ARABIC)))


def persian(_: Any) -> Words:
    """A joiner that parts the halves of a word without a blank is read as a blank."""
    return light(
        "fa",
        lambda token: digits(lower(token)).translate(_ARABIC).translate(_PERSIAN),
        fold=lambda text: text.replace("\u200c", " "),
    )


def stem(word: str) -> str:
    for prefix in _PREFIXES:
        if word.startswith(prefix) and len(word) >= max(4, len(prefix) + 2):
            word = word[len(prefix) :]
            break
    for suffix in _SUFFIXES:
        if len(word) >= len(suffix) + 2:
            word = word.removesuffix(suffix)
    return word
