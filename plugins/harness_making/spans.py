"""Decides whether any span of a passage is an answer by F1: exactly algorithm 1 of DuReader-retrieval."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = re.compile(r"\w+")


class Level(NamedTuple):
    """The F1 from which a span is an answer. It is a fraction, so that rounding never decides."""

    top: int
    bottom: int
    strict: bool  # an F1 of exactly this level is not enough

    @classmethod
    def of(cls, tau: float, strict: bool) -> Level:
        exact = Fraction(str(tau))
        return cls(exact.numerator, exact.denominator, strict)


def tokens(text: str, characters: bool) -> list[str]:
    """The single letters and digits of a text, or its words. Both are in lower case, and full-width forms are
    made normal (NFKC)."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return [letter for letter in plain if letter.isalnum()] if characters else WORD.findall(plain)


class Tokens:
    """Numbers the tokens of texts. Equal tokens have equal numbers in all texts."""

    def __init__(self, characters: bool) -> None:
        self._characters = characters
        self._numbers: dict[str, int] = {}

    def numbers(self, text: str) -> NDArray[np.int64]:
        """int64[n]: the numbers of the text's tokens, in order."""
        known = self._numbers
        return np.array(
            [known.setdefault(token, len(known)) for token in tokens(text, self._characters)], np.int64
        )

    @property
    def size(self) -> int:
        return len(self._numbers)


class Bags(NamedTuple):
    """The token numbers of several texts, one text after the other."""

    tokens: NDArray[np.int64]  # int64[n]
    bounds: NDArray[np.int64]  # int64[texts + 1]: text i has the tokens bounds[i] to bounds[i + 1] - 1

    @classmethod
    def of(cls, texts: Sequence[NDArray[np.int64]]) -> Bags:
        bounds = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        return cls(np.concatenate([np.zeros(0, np.int64), *texts]), bounds)


def labels(passages: Bags, answers: Bags, vocabulary: int, level: Level) -> NDArray[np.bool_]:
    """bool[passages]: whether F1(s, a) reaches the level for any span s of the passage and any answer a.
    F1(s, a) is 2 |s n a| / (|s| + |a|) over bags of tokens. Tokens are numbers below `vocabulary`."""
    found: NDArray[np.bool_] = _kernel()(
        *passages, *answers, vocabulary, 2 * level.bottom, level.top, 1 if level.strict else 0
    )
    return found


@functools.cache
def _kernel() -> Any:
    """The function `labelled`, compiled when it is first used."""

    @njit(cache=True)
    def any_span(codes: Any, counts: Any, seen: Any, ahead: Any, gain: int, cost: int, needed: int) -> bool:
        """Whether gain |s n a| - cost |s| >= needed for any span s. This is 2 |s n a| / (|s| + |a|) >= top /
        bottom, multiplied out. Every token of a span costs `cost`. A token of the answer gains `gain`, but no
        more often than the answer has the token.

        `ahead[i]` is an upper bound of the value of a span that begins at i: it counts a gain for every token
        of the answer. No span is tried where the bound is below `needed`. The bound also ends a span early,
        because each token costs."""
        n = len(codes)
        ahead[n] = 0
        best = np.int64(-1)
        for i in range(n - 1, -1, -1):
            worth = (gain - cost if codes[i] >= 0 else -cost) + ahead[i + 1]
            best = max(best, worth)
            ahead[i] = max(worth, 0)
        if best < needed:
            return False
        for start in range(n):
            if codes[start] < 0 or ahead[start] < needed:
                continue
            seen[: len(counts)] = 0
            value = np.int64(0)
            for i in range(start, n):
                if value + ahead[i] < needed:
                    break
                value -= cost
                code = codes[i]
                if code >= 0:
                    if seen[code] < counts[code]:
                        value += gain
                    seen[code] += 1
                    if value >= needed:
                        return True
        return False

    @njit(cache=True)
    def labelled(
        passages: Any, bounds: Any, answers: Any, ends: Any, vocabulary: int, gain: int, cost: int, more: int
    ) -> Any:
        found = np.zeros(len(bounds) - 1, np.bool_)
        code_of = np.full(vocabulary, -1, np.int32)  # token -> its code, for one answer at a time
        longest = np.int64(0)
        for p in range(len(found)):
            longest = max(longest, bounds[p + 1] - bounds[p])
        codes, ahead = np.empty(longest, np.int32), np.empty(longest + 1, np.int64)
        for a in range(len(ends) - 1):
            size = ends[a + 1] - ends[a]
            if size == 0:
                continue
            counts, seen = np.zeros(size, np.int64), np.zeros(size, np.int64)
            distinct = 0
            for i in range(ends[a], ends[a + 1]):
                if code_of[answers[i]] < 0:
                    code_of[answers[i]] = distinct
                    distinct += 1
                counts[code_of[answers[i]]] += 1
            for p in range(len(found)):
                if found[p]:
                    continue
                length = bounds[p + 1] - bounds[p]
                for i in range(length):
                    codes[i] = code_of[passages[bounds[p] + i]]
                needed = cost * size + more
                found[p] = any_span(codes[:length], counts[:distinct], seen, ahead, gain, cost, needed)
            for i in range(ends[a], ends[a + 1]):
                code_of[answers[i]] = -1
        return found

    return labelled
