"""Hindi, Bengali and Telugu as Lucene's analysers: one form of each digit and spelling, then light stems."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness_analysers.base import Words, lower
from harness_analysers.light import digits, light, suffixes

ZWNJ, ZWJ = "\u200c", "\u200d"

# Hindi: vowels written in parts are one (Lucene's IndicNormalizer). Then a dead n is bindu, and candra, short
# and long vowels are one (its HindiNormalizer). Virama, nukta and joiners go.
_HINDI_PARTS = {
    "\u0905\u093e[\u0945-\u0948]|\u0905[\u0949-\u094c]|\u0906[\u0945-\u0948]": "\u0913",
    "\u0905\u0946": "\u0904", "\u0905[\u093e\u0945]": "\u0905", "\u0909\u0941": "\u0909",
    "\u090f[\u0945-\u0947]": "\u090f", "\u093e[\u0945-\u0948]": "\u094b", "\u0928\u094d": "\u0902",
}  # fmt: skip
_HINDI_SPELLING = str.maketrans(
    "\u0901\u0929\u0931\u0934\u0958\u0959\u095a\u095b\u095c\u095d\u095e\u095f\u0945\u0946\u0948\u0949\u094a\u094c"
    "\u090d\u090e\u0910\u0911\u0912\u0914\u0972\u0906\u0908\u090a\u0960\u0961\u0940\u0942\u0944\u0963",
    "\u0902\u0928\u0930\u0933\u0915\u0916\u0917\u091c\u0921\u0922\u092b\u092f\u0947\u0947\u0947\u094b\u094b\u094b"
    "\u090f\u090f\u090f\u0913\u0913\u0913\u0905\u0905\u0907\u0909\u090b\u090c\u093f\u0941\u0943\u0962",
    "\u093c\u094d" + ZWJ + ZWNJ,
)
# "A Lightweight Stemmer for Hindi" (Ramanathan and Rao, 2003); as in each table below, only suffixes in the
# spelling above. Each row is preceded by the length of the shortest word that loses its suffixes.
_HINDI_SUFFIXES = {
    7: "ाएंगे ाइयों ाइयां",
    6: "ाएगा ाओगे एंगे ेंगे नाओं नाएं ताओं ताएं ियों ियां",
    5: "ाकर ाइए ाया ेगा ोगे ाने ाना ाते ाता ाओं ाएं ुओं ुएं",
    4: "कर ाओ िए ाए ने ना ते ता ां ों ें",
    3: "ो े ु ि ा",
}

_BENGALI_PARTS = {
    "\u0985\u09be": "\u0986", "\u09a1\u09bc": "\u09dc", "\u09a2\u09bc": "\u09dd",
    "\u09a4\u09cd" + ZWJ: "\u09ce", "\u09af\u09bc": "\u09df", "\u09c7\u09be": "\u09cb",
    "\u09c7\u09d7": "\u09cc",
}  # fmt: skip
_BENGALI_SPELLING = str.maketrans(
    "\u09c0\u09c2\u0999\u09b6\u09b7\u09a3\u09dc\u09dd\u09ce",
    "\u09bf\u09c1\u0982\u09b8\u09b8\u09a8\u09b0\u09b0\u09a4",
)
_BENGALI_SUFFIXES = {
    10: "ি\u09dfাছিলাম িতেছিলাম িতেছিলেন ইতেছিলেন ি\u09dfাছিলেন ই\u09dfাছিলেন",
    9: "িতেছিলি িতেছিলে ি\u09dfাছিলা ি\u09dfাছিলে িতেছিলা ি\u09dfাছিলি \u09dfেদেরকে",
    8: "িতেছিস িতেছেন ি\u09dfাছিস ি\u09dfাছেন েছিলাম েছিলেন েদেরকে",
    7: "িতেছি িতেছা িতেছে ছিলাম ছিলেন ি\u09dfাছি ি\u09dfাছা ি\u09dfাছে েছিলে েছিলা \u09dfেদের দেরকে",
    6: "িলাম িলেন িতাম িতেন িবেন ছিলি ছিলে ছিলা তেছে িতেছ খানা খানি গুলো গুলি \u09dfেরা েদের",
    5: "লাম িলি ইলি িলে ইলে লেন িলা ইলা তাম িতি ইতি িতে ইতে তেন িতা িবা ইবা িবি ইবি বেন িবে ইবে ছেন "
    "\u09dfোন \u09dfের েরা দের",
    4: "িস েন লি লে লা তি তে তা বি বে বা ছি ছা ছে ুন ুক টা টি নি ের রা কে",
    3: "ি া ো ে ব ত",
}

_TELUGU_PARTS = {
    "\u0c12\u0c4c": "\u0c14", "\u0c12\u0c55": "\u0c13", "\u0c2c\u0c41\u0c41": "\u0c0b",
    "\u0c35\u0c41": "\u0c2e", "\u0c46\u0c55": "\u0c47", "\u0c46\u0c56": "\u0c48",
}  # fmt: skip
# Lucene's TeluguNormalizer: candrabindu is bindu, long vowels are short, visarga and joiners go.
_TELUGU_SPELLING = str.maketrans(
    "\u0c00\u0c01\u0c14\u0c10\u0c06\u0c08\u0c0a\u0c40\u0c42\u0c47\u0c4b",
    "\u0c02\u0c02\u0c13\u0c0f\u0c05\u0c07\u0c09\u0c3f\u0c41\u0c46\u0c4a",
    "\u0c03" + ZWJ + ZWNJ,
)
_TELUGU_SUFFIXES = {6: "ళ్ళు డ్లు", 4: "డు ము వు లు ని ను కై ది కి సు వై పై", 3: "ి ు ె ొ ా"}


def hindi(_: Any) -> Words:
    return _analyser("hi", _HINDI_PARTS, lambda word: word.translate(_HINDI_SPELLING), _HINDI_SUFFIXES)


def bengali(_: Any) -> Words:
    return _analyser("bn", _BENGALI_PARTS, bengali_spelling, _BENGALI_SUFFIXES)


def telugu(_: Any) -> Words:
    return _analyser("te", _TELUGU_PARTS, lambda word: word.translate(_TELUGU_SPELLING), _TELUGU_SUFFIXES)


def _analyser(
    language: str, parts: Mapping[str, str], spelling: Callable[[str], str], ends: Mapping[int, str]
) -> Words:
    """`parts` maps patterns of parts that are written one after the other to the letter that they are."""
    sequences = re.compile("|".join(f"({pattern})" for pattern in parts))
    letters = tuple(parts.values())

    def one_spelling(token: str) -> str:
        text = digits(lower(token))
        return spelling(sequences.sub(lambda match: letters[(match.lastindex or 1) - 1], text))

    return light(language, one_spelling, suffixes(ends))


def bengali_spelling(word: str) -> str:
    """A word in one spelling, by Lucene's BengaliNormalizer: letters that sound alike are one."""
    out: list[str] = []
    i = 0
    while i < len(word):
        letter, after = word[i], word[i + 1 : i + 3]
        joined = bool(out) and out[-1] == "্"
        i += 1
        if letter == "ঁ":
            continue
        if letter == "ক" and after == "্ি":
            out += ["ক", "খ"] if out else ["খ"]
            i += 2
        elif letter == "য" and joined and len(out) == 2:
            out[-1] = "ে"
            i += after[:1] == "া"
        elif letter == "য" and joined:
            out.pop()
        elif letter == "ব" and joined and (len(out) == 2 or (len(out) >= 5 and out[-3] == "্")):
            out.pop()
        elif letter == "ব" and joined and len(out) > 2:
            out[-1] = out[-2]
        elif letter == "ঃ":  # at the end of a short word it is h, in a long one silent; within, it doubles
            out += [after[0]] if after else ["হ"] if len(out) < 3 else []
        else:
            out.append(letter.translate(_BENGALI_SPELLING))
    return "".join(out)
