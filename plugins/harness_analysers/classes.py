"""The word-break class of every character, as in Lucene's StandardTokenizer, from Python's Unicode data."""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# One letter for each class. A text is translated into these letters, then cut by a regular expression
# (`words`) or by a compiled loop (`segment`). The names of the classes are those of UAX #29.
OTHER, LETTER, HEBREW, HANGUL, DIGIT, KATAKANA, JOINER = "-AHNDKX"  # JOINER is ExtendNumLet: the underscore
MID_LETTER, MID_BOTH, MID_DIGIT, QUOTE, SINGLE = "lbd\"'"  # MID_BOTH: the full stop and curly apostrophes
HAN, HIRAGANA, COMPLEX = "CGT"
EMOJI, FLAG = "EF"
# Characters that belong to the one before them. GLUE is the zero-width joiner. MODIFIER (a skin tone) and
# MARK (a vowel sign of a script without spaces) are tokens if no character precedes them.
EXTEND, GLUE, MODIFIER, MARK = "ezMm"
ORDER = "-AHNDKXlbd\"'CGTEFezMm"

_Ranges: TypeAlias = list[tuple[int, int]]


def _read() -> tuple[dict[int, str], dict[str, _Ranges]]:
    """The class letters of single characters, and the ranges by name, of `classes.tsv`."""
    exact, ranges = dict[int, str](), dict[str, _Ranges]()
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, name, text = line.split("\t")
            ends = (part.partition("-") for part in text.split())
            pairs = [(int(first, 16), int(last or first, 16)) for first, _, last in ends]
            if kind == "exact":
                exact |= dict.fromkeys((code for code, _ in pairs), name)
            else:
                ranges[name] = pairs
    return exact, ranges


_EXACT, _RANGES = _read()


def _within(code: int, name: str) -> bool:
    return any(first <= code <= last for first, last in _RANGES[name])


def word_class(code: int) -> str:
    """The class letter of one code point."""
    if code in _EXACT:
        return _EXACT[code]
    if 0x20000 <= code <= 0x323AF:  # ideographs, also those that this version of Python does not know
        return HAN
    category = unicodedata.category(chr(code))
    if code < 0x80:
        if code == 0x5F:
            return JOINER
        return LETTER if category in ("Ll", "Lu") else DIGIT if category == "Nd" else OTHER
    if category[0] in "LM" and _within(code, "COMPLEX"):
        return COMPLEX if category[0] == "L" else MARK
    if _within(code, "LETTERLIKE"):
        return LETTER
    if category[0] == "M" or category == "Cf":
        return EXTEND
    if category == "Pc":
        return JOINER
    if category == "Nd":
        return DIGIT
    if 0x1F1E6 <= code <= 0x1F1FF:
        return FLAG
    if 0x1F3FB <= code <= 0x1F3FF:
        return MODIFIER
    if _within(code, "HIRAGANA"):
        return HIRAGANA
    if category[0] in "LNS" and _within(code, "KATAKANA"):
        return KATAKANA
    if category[0] in "LNS" and _within(code, "HAN"):
        return HAN
    if _within(code, "EMOJI"):
        return EMOJI
    if category[0] == "L" or category == "Nl":
        if _within(code, "HANGUL"):
            return HANGUL
        return HEBREW if 0x5D0 <= code <= 0x5F2 or 0xFB1D <= code <= 0xFB4F else LETTER
    return OTHER


class Letters(dict[int, str]):
    """For `str.translate`: each character's class letter, computed on first use."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = word_class(code)
        return letter


@functools.cache
def table() -> NDArray[np.uint8]:
    """uint8[0x110000]: the index in ORDER of every code point's class."""
    import numpy as np

    codes = np.zeros(0x110000, np.uint8)
    alike = {(0x3400, 0x4DBF): HAN, (0x4E00, 0x9FFF): HAN, (0xAC00, 0xD7A3): HANGUL, (0x20000, 0x323AF): HAN}
    for (first, last), letter in alike.items():  # more than half of all characters are set by range
        codes[first : last + 1] = ORDER.index(letter)
    rest = ((0, 0x33FF), (0x4DC0, 0x4DFF), (0xA000, 0xABFF), (0xD7A4, 0x1FFFF), (0xE0000, 0xE01FF))
    for first, last in rest:
        codes[first : last + 1] = [ORDER.index(word_class(code)) for code in range(first, last + 1)]
    return codes
