"""Decides whether any span of a passage is an answer by F1: exactly algorithm 1 of DuReader-retrieval."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numba import njit
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
    """The single letters and digits of a text, or its words. Both in lower case and normal form (NFKC)."""
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
    reached: NDArray[np.bool_] = _kernel()(
        *passages, *answers, vocabulary, 2 * level.bottom, level.top, 1 if level.strict else 0
    )
    return reached


@functools.cache
def _kernel() -> Any:
    """The function `labelled`, compiled when it is first used.

    A span of length |s| matches an answer of length |a| if 2 shared / (|s| + |a|) >= top / bottom, where
    `shared` counts their common tokens. Multiplied out, this is gain * shared - cost * |s| >= needed. The
    left side is the value of a span: every token costs `cost`, and a token of the answer gains `gain`, but no
    more often than the answer has the token."""

    @njit(cache=True)
    def encoded(tokens: Any, code_of: Any, codes: Any, gain: int, cost: int) -> Any:
        """Put the code of each token into `codes`, or -1 for a token that the answer lacks. Returns an upper
        bound of the value of any span, in which every token of the answer gains, however often it occurs."""
        best: Any = np.int64(-cost)
        value: Any = best
        for i in range(len(tokens)):
            codes[i] = code_of[tokens[i]]
            value = max(value, 0) + (gain - cost if codes[i] >= 0 else -cost)
            best = max(best, value)
        return best

    @njit(cache=True)
    def any_span(
        codes: Any, ring: Any, turn: Any, ends: Any, work: Any, gain: int, cost: int, needed: int
    ) -> bool:
        """Whether the value of any span reaches `needed`, in time that is nearly linear in the passage.

        The loop reads the passage once. At each token, it knows the values of the spans that end there, by
        their starts. If the answer has a token c times, the token gains only in the spans that begin after
        its c-th last occurrence. So if a span gains, every span that begins later gains too. A start is
        therefore dropped as soon as a later start has at least the same value. The values of the starts that
        are left become smaller from each start to the next. Three things are stored: the value of the first
        start, the value of the last start, and in `fall` the difference between each start and the next. A
        gain changes only one difference, or the value of the first start.

        `ring[ends[t] : ends[t + 1]]` holds the last occurrences of the token t, as many as the answer has of
        t. `turn[t]` is the place of the oldest one in `ring`."""
        fall, before, after, leader = work[0], work[1], work[2], work[3]
        for i in range(ends[len(turn)]):
            ring[i] = 0
        for i in range(len(turn)):
            turn[i] = ends[i]
        count = last = 0  # number of the answer's tokens so far; the last start, or 0 for none
        first_value: Any = np.int64(0)
        last_value: Any = first_value
        at: Any = 0
        for i in range(len(codes)):
            code = codes[i]
            if code < 0:
                continue
            first_value -= cost * (i - at)
            last_value -= cost * (i - at)
            at = i
            while last > 0 and last_value <= -cost:  # the span of this token alone is better
                leader[last] = before[last]
                last = before[last]
                last_value += fall[last] if last > 0 else 0
            count += 1
            leader[count] = count
            before[count] = last
            if last > 0:
                after[last], fall[last] = count, last_value + cost
            else:
                first_value = -cost
            last, last_value = count, gain - cost
            start = ring[turn[code]]
            ring[turn[code]] = count
            turn[code] = turn[code] + 1 if turn[code] + 1 < ends[code + 1] else ends[code]
            while leader[start] != start:  # find the last start that does not gain and is not dropped
                leader[start] = leader[leader[start]]
                start = leader[start]
            if start == 0:
                first_value += gain
            else:
                fall[start] -= gain
            while start > 0 and fall[start] <= 0:
                earlier, later = before[start], after[start]
                leader[start] = before[later] = earlier
                if earlier > 0:
                    after[earlier] = later
                    fall[earlier] += fall[start]
                else:
                    first_value -= fall[start]
                start = earlier
            if first_value >= needed:
                return True
        return False

    @njit(cache=True)
    def labelled(
        passages: Any, bounds: Any, answers: Any, ends: Any, vocabulary: int, gain: int, cost: int, more: int
    ) -> Any:
        reached = np.zeros(len(bounds) - 1, np.bool_)
        code_of = np.full(vocabulary, -1, np.int32)  # token -> its code, for one answer at a time
        longest = np.int64(0)
        for p in range(len(reached)):
            longest = max(longest, bounds[p + 1] - bounds[p])
        codes, work = np.empty(longest, np.int32), np.zeros((4, longest + 1), np.int64)
        for a in range(len(ends) - 1):
            size = ends[a + 1] - ends[a]
            if size == 0:
                continue
            counts = np.zeros(size, np.int64)
            distinct = 0
            for i in range(ends[a], ends[a + 1]):
                if code_of[answers[i]] < 0:
                    code_of[answers[i]] = distinct
                    distinct += 1
                counts[code_of[answers[i]]] += 1
            places = np.zeros(distinct + 1, np.int64)
            for i in range(distinct):
                places[i + 1] = places[i] + counts[i]
            ring, turn = np.empty(size, np.int64), np.empty(distinct, np.int64)
            needed = cost * size + more
            for p in range(len(reached)):
                if reached[p]:
                    continue
                mine = codes[: bounds[p + 1] - bounds[p]]
                if encoded(passages[bounds[p] : bounds[p + 1]], code_of, mine, gain, cost) >= needed:
                    reached[p] = any_span(mine, ring, turn, places, work, gain, cost, needed)
            for i in range(ends[a], ends[a + 1]):
                code_of[answers[i]] = -1
        return reached

    return labelled
