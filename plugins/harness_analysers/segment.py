"""The tokenizer of `words` as a compiled loop over many texts at once, given as arrays of code points."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from harness.toolkit.search.topk import inner

# The index of each class in `classes.ORDER`.
LETTER, HEBREW, HANGUL, DIGIT, KATAKANA, JOINER = 1, 2, 3, 4, 5, 6
MID_LETTER, MID_BOTH, MID_DIGIT, QUOTE, SINGLE = 7, 8, 9, 10, 11
HAN, HIRAGANA, COMPLEX, EMOJI, FLAG = 12, 13, 14, 15, 16
EXTEND, GLUE, MODIFIER, MARK = 17, 18, 19, 20
NONE, WORD, ASIAN = 0, 1, 2
TEXT = nb.types.Array(nb.uint32, 1, "C", readonly=True)


@inner("int64(uint8[::1], int64, int64)")
def _after(shape: NDArray[np.uint8], i: int, stop: int) -> int:
    """The index of the first character that comes after character i and does not extend it (rule WB4)."""
    i += 1
    while i < stop and shape[i] >= EXTEND:
        i += 1
    return i


@inner("UniTuple(int64, 2)(uint8[::1], int64, int64)")
def _word(shape: NDArray[np.uint8], start: int, stop: int) -> tuple[int, int]:
    """The end of the word that starts here, and its kind (rules WB5 to WB13b)."""
    i, last = start, 0
    seen = 0  # one bit for each class in the word
    while i < stop:
        this = shape[i]
        if this == 0 or this > SINGLE:
            break
        if this > JOINER:  # a mark may join two characters of the same kind
            after = _after(shape, i, stop)
            following = shape[after] if after < stop else 0
            letters = (
                1 <= last <= HANGUL and 1 <= following <= HANGUL and this in (MID_LETTER, MID_BOTH, SINGLE)
            )
            digits = last == DIGIT and following == DIGIT and this in (MID_BOTH, MID_DIGIT, SINGLE)
            if not (letters or digits):
                break
            seen |= 1
            i = after
            continue
        if last and last != JOINER and this != JOINER and (this == KATAKANA) != (last == KATAKANA):
            break
        seen |= 1 << this
        i, last = _after(shape, i, stop), this
        if this == HEBREW and i < stop and (shape[i] == SINGLE or shape[i] == QUOTE):
            after = _after(shape, i, stop)
            if shape[i] == SINGLE or (after < stop and shape[after] == HEBREW):
                i = after
    if seen == 1 << JOINER:
        return i, NONE
    return i, ASIAN if seen in (1 << KATAKANA, 1 << HANGUL) else WORD


@inner("UniTuple(int64, 2)(uint8[::1], int64, int64)")
def _not_a_word(shape: NDArray[np.uint8], start: int, stop: int) -> tuple[int, int]:
    """The end and the kind of a token other than a word: ideographs, South-East Asian runs, emoji, flags."""
    this = shape[start]
    i = _after(shape, start, stop)
    if this in (HAN, HIRAGANA):
        return i, ASIAN
    if this in (COMPLEX, MARK):
        while i < stop and shape[i] == COMPLEX:
            i = _after(shape, i, stop)
        return i, WORD
    if this == FLAG:
        pair = i < stop and shape[i] == FLAG
        return (_after(shape, i, stop), WORD) if pair else (start + 1, NONE)
    if this in (EMOJI, MODIFIER):
        while i < stop and shape[i] == EMOJI and shape[i - 1] == GLUE:
            i = _after(shape, i, stop)
        return i, WORD
    return start + 1, NONE


@nb.njit(
    nb.int64(
        TEXT,
        nb.int64[::1],
        nb.uint8[::1],
        nb.boolean,
        nb.int64,
        nb.uint8[::1],
        nb.int32[::1],
        nb.int32[::1],
        nb.int64[::1],
    ),
    nogil=True,
    cache=True,
)
def segment(
    text: NDArray[np.uint32],  # uint32[C]: the code points of all texts
    bounds: NDArray[np.int64],  # int64[n + 1]: text t is text[bounds[t] : bounds[t + 1]]
    table: NDArray[np.uint8],  # uint8[0x110000]: code point -> class
    bigrams: bool,  # East Asian runs become overlapping pairs, as in Lucene's CJKBigramFilter
    longest: int,  # longer tokens are cut into pieces
    shape: NDArray[np.uint8],  # uint8[C]: room for the class of each code point
    starts: NDArray[np.int32],  # int32[C]: where each token starts in `text`
    lengths: NDArray[np.int32],  # int32[C]
    ends: NDArray[np.int64],  # int64[n]: the number of tokens up to the end of each text
) -> int:
    """Fills `starts`, `lengths` and `ends`, and returns the number of tokens."""
    for i in range(len(text)):
        shape[i] = table[text[i]]
    n = 0
    for t in range(len(bounds) - 1):
        i, stop = bounds[t], bounds[t + 1]
        run, reached = 0, -1  # an open East Asian run is from `run` to `reached`; none: -1
        while i < stop or reached >= 0:
            end, kind = i, NONE
            if i < stop:
                if shape[i] in (0, EXTEND, GLUE):
                    end += 1
                elif shape[i] <= JOINER:
                    end, kind = _word(shape, i, stop)
                else:
                    end, kind = _not_a_word(shape, i, stop)
            if bigrams and kind == ASIAN and (reached == i or reached < 0):
                run = i if reached < 0 else run
                reached = i = end
                continue
            if reached >= 0:  # the run is over: write its pairs, or its one character
                for j in range(run, max(reached - 1, run + 1)):
                    starts[n], lengths[n] = j, min(2, reached - run)
                    n += 1
                reached = -1
                continue
            if kind != NONE:
                for j in range(i, end, longest):
                    starts[n], lengths[n] = j, min(longest, end - j)
                    n += 1
            i = end
        ends[t] = n
    return n
