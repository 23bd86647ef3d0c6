"""jieba's tagger for Chinese with a faster Viterbi search over arrays, which gives the same tags.

For a character that jieba's tables lack, such as most traditional ones, every state is possible: 256
times 256 transitions, which jieba tries one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jieba.posseg
import numpy as np
from jieba.posseg.viterbi import MIN_FLOAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Flags = NDArray[np.bool_]

REMEMBERED = 20_000  # characters


class Search:
    """A Viterbi search for the most probable states of a text's characters. A state is a place in a word (B,
    M, E or S) with a tag."""

    def __init__(self) -> None:
        # in ascending order: of equally probable states jieba takes the largest
        self.states = sorted(jieba.posseg.trans_P)
        number = {state: i for i, state in enumerate(self.states)}
        size = len(self.states)
        self.start = np.array([jieba.posseg.start_P[state] for state in self.states])  # float64[S]
        self.change = np.full((size, size), -np.inf)  # float64[S, S], from the first to the second
        self.changes = np.zeros((size, size), np.bool_)
        for state, following in jieba.posseg.trans_P.items():
            for other, value in following.items():
                self.change[number[state], number[other]] = value
                self.changes[number[state], number[other]] = True
        self.number = number
        self.of_character = functools.lru_cache(REMEMBERED)(self._of_character)

    def _of_character(self, character: str) -> tuple[Scores, Flags]:
        """The log probability of the character in each state, float64[S], and whether the state is allowed
        for the character, bool[S]."""
        emitted = jieba.posseg.emit_P
        probable = np.array([emitted[state].get(character, MIN_FLOAT) for state in self.states])
        named = jieba.posseg.char_state_tab_P.get(character)
        allowed = np.full(len(self.states), named is None)
        if named is not None:
            allowed[[self.number[state] for state in named]] = True
        return probable, allowed

    def path(self, text: str) -> list[Any]:
        """The state of each character of the text, the same as in jieba."""
        probable, allowed = self.of_character(text[0])
        here = np.flatnonzero(allowed)
        score = self.start[here] + probable[here]
        steps = []
        for character in text[1:]:
            probable, allowed = self.of_character(character)
            left = np.flatnonzero(self.changes[here].any(axis=1))  # no state follows some of the states
            before = here[left]
            possible = self.changes[before].any(axis=0)
            here = np.flatnonzero(allowed & possible)
            if not len(here):
                here = np.flatnonzero(possible) if possible.any() else np.arange(len(self.states))
            # float64[B, H], added in jieba's order, so that sums that are equal in jieba are equal here
            sums = (score[left][:, None] + self.change[np.ix_(before, here)]) + probable[here]
            best = len(before) - 1 - np.argmax(sums[::-1], axis=0)
            score = sums[best, np.arange(len(here))]
            steps.append((here, before[best]))
        last = len(score) - 1 - int(np.argmax(score[::-1]))
        state = int(here[last])
        states = [state]
        for reached, came_from in reversed(steps):
            state = int(came_from[np.searchsorted(reached, state)])
            states.append(state)
        return [self.states[state] for state in reversed(states)]


class Tagger(jieba.posseg.POSTokenizer):  # type: ignore[misc]
    """The tagger of jieba with `Search` in place of jieba's own search."""

    def __init__(self, tokenizer: jieba.Tokenizer) -> None:
        super().__init__(tokenizer)
        self._search = Search()

    def _POSTokenizer__cut(self, sentence: str) -> Iterator[Any]:  # jieba's `__cut`
        """The words of a sentence with their tags, from the states of its characters: B begins a word, E ends
        it, and S is a word of one character."""
        states = self._search.path(sentence)
        begin = after = 0
        for i, (place, tag) in enumerate(states):
            if place == "B":
                begin = i
            elif place in ("E", "S"):
                first = begin if place == "E" else i
                yield jieba.posseg.pair(sentence[first : i + 1], tag)
                after = i + 1
        if after < len(sentence):
            yield jieba.posseg.pair(sentence[after:], states[after][1])
