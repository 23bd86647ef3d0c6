"""The word-break class of every character, as in Lucene's StandardTokenizer, from Python's Unicode data."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING

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

_EXACT: dict[int, str] = {
    **dict.fromkeys((0x3A, 0xB7, 0x387, 0x5F4, 0x2027, 0xFE13, 0xFE55, 0xFF1A), MID_LETTER),
    **dict.fromkeys((0x2E, 0x2018, 0x2019, 0x2024, 0xFE52, 0xFF07, 0xFF0E), MID_BOTH),
    **dict.fromkeys((0x2C, 0x3B, 0x37E, 0x589, 0x60C, 0x60D, 0x66C, 0x7F8, 0x2044), MID_DIGIT),
    **dict.fromkeys((0xFE10, 0xFE14, 0xFE50, 0xFE54, 0xFF0C, 0xFF1B), MID_DIGIT),
    **dict.fromkeys(
        (0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x309B, 0x309C, 0x30A0, 0x30FC, 0xFF70), KATAKANA
    ),
    **dict.fromkeys((0x200C, 0xFF9E, 0xFF9F), EXTEND),
    **dict.fromkeys((0xA9, 0xAE, 0x2122, 0x3030, 0x303D), EMOJI),
    **dict.fromkeys((0x19DA, 0x19DE, 0x19DF, 0x109E, 0x109F, 0x1173A, 0x1173B), COMPLEX),
    0x3007: HAN,
    0x22: QUOTE,
    0x27: SINGLE,
    0x66B: DIGIT,
    0x200B: OTHER,
    0x200D: GLUE,
    0x202F: JOINER,
}
_LETTERLIKE = (  # symbols by Unicode's categories, but letters in UAX #29
    (0x2C2, 0x2C5), (0x2D2, 0x2D7), (0x2DE, 0x2DF), (0x2ED, 0x2ED), (0x2EF, 0x2FF),
    (0x55B, 0x55C), (0x55E, 0x55E), (0x5F3, 0x5F3), (0x24B6, 0x24E9), (0xA720, 0xA721), (0xA789, 0xA78A),
    (0xAB5B, 0xAB5B), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189),
)  # fmt: skip
_COMPLEX = (  # scripts that are written without spaces: a run of them stays one token
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF),
    (0x1A20, 0x1AAF), (0xA9E0, 0xA9FF), (0xAA60, 0xAADF), (0x11700, 0x1173F),
)  # fmt: skip
_HAN = (
    (0x2E80, 0x2FD5), (0x3021, 0x3029), (0x3038, 0x303A), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
)  # fmt: skip
_HANGUL = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7FB), (0xFFA0, 0xFFDC))
_HIRAGANA = ((0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11E), (0x1F200, 0x1F200))
_KATAKANA = (
    (0x30A1, 0x30FA),
    (0x30FD, 0x30FF),
    (0x31F0, 0x31FF),
    (0x32D0, 0x32FE),
    (0x3300, 0x3357),
    (0xFF66, 0xFF9D),
    (0x1B000, 0x1B000),
)
_EMOJI = (
    (0x203C, 0x203C), (0x2049, 0x2049), (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B),
    (0x2328, 0x2328), (0x2388, 0x2388), (0x23CF, 0x23CF), (0x23E9, 0x23F3), (0x23F8, 0x23FA),
    (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0), (0x25FB, 0x25FE), (0x2600, 0x2605),
    (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712), (0x2714, 0x2714),
    (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755),
    (0x2757, 0x2757), (0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0),
    (0x27BF, 0x27BF), (0x2934, 0x2935), (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50),
    (0x2B55, 0x2B55), (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1F0FF), (0x1F10D, 0x1F10F),
    (0x1F12F, 0x1F12F), (0x1F16C, 0x1F16F), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F1AD, 0x1F1E5),
    (0x1F201, 0x1F20F), (0x1F21A, 0x1F21A), (0x1F22F, 0x1F22F), (0x1F232, 0x1F23A), (0x1F23C, 0x1F23F),
    (0x1F249, 0x1F3FA), (0x1F400, 0x1F53D), (0x1F546, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F774, 0x1F77F),
    (0x1F7D5, 0x1F7FF), (0x1F80C, 0x1F80F), (0x1F848, 0x1F84F), (0x1F85A, 0x1F85F), (0x1F888, 0x1F88F),
    (0x1F8AE, 0x1F8FF), (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1FFFD),
)  # fmt: skip


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def word_class(code: int) -> str:
    """The class letter of one code point."""
    if code in _EXACT:
        return _EXACT[code]
    if 0x20000 <= code <= 0x323AF:  # ideographs, also those that this version of Python does not know
        return HAN
    category = unicodedata.category(chr(code))
    if code < 0x80:
        return (
            LETTER
            if category in ("Ll", "Lu")
            else DIGIT
            if category == "Nd"
            else JOINER
            if code == 0x5F
            else OTHER
        )
    if category[0] in "LM" and _within(code, _COMPLEX):
        return COMPLEX if category[0] == "L" else MARK
    if _within(code, _LETTERLIKE):
        return LETTER
    if category[0] == "M":
        return EXTEND
    if category == "Cf":
        return EXTEND
    if category == "Pc":
        return JOINER
    if category == "Nd":
        return DIGIT
    if 0x1F1E6 <= code <= 0x1F1FF:
        return FLAG
    if 0x1F3FB <= code <= 0x1F3FF:
        return MODIFIER
    if _within(code, _HIRAGANA):
        return HIRAGANA
    if category[0] in "LNS" and _within(code, _KATAKANA):
        return KATAKANA
    if category[0] in "LNS" and _within(code, _HAN):
        return HAN
    if _within(code, _EMOJI):
        return EMOJI
    if category[0] == "L" or category == "Nl":
        if _within(code, _HANGUL):
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
