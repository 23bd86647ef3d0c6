"""jieba's tagger for Chinese, with its Viterbi search over arrays: the same tags in less time.

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
    """The most probable states of a text's characters (Viterbi). A state is a place in a word with a tag."""

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
        """float64[S] and bool[S]: how probable the character is in each state, and which states it has."""
        emitted = jieba.posseg.emit_P
        probable = np.array([emitted[state].get(character, MIN_FLOAT) for state in self.states])
        named = jieba.posseg.char_state_tab_P.get(character)
        allowed = np.full(len(self.states), named is None)
        if named is not None:
            allowed[[self.number[state] for state in named]] = True
        return probable, allowed

    def path(self, text: str) -> list[Any]:
        """A state for each character, as jieba finds them."""
        probable, allowed = self.of_character(text[0])
        here = np.flatnonzero(allowed)
        score = self.start[here] + probable[here]
        steps = []
        for character in text[1:]:
            probable, allowed = self.of_character(character)
            left = np.flatnonzero(self.changes[here].any(axis=1))  # some states are a word's end for good
            before = here[left]
            possible = self.changes[before].any(axis=0)
            here = np.flatnonzero(allowed & possible)
            if not len(here):
                here = np.flatnonzero(possible) if possible.any() else np.arange(len(self.states))
            # float64[B, H], added in jieba's order so that equal sums are equal here
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
    """jieba's own, but for the search."""

    def __init__(self, tokenizer: jieba.Tokenizer) -> None:
        super().__init__(tokenizer)
        self._search = Search()

    def _POSTokenizer__cut(self, sentence: str) -> Iterator[Any]:  # jieba's `__cut`
        """Words from the states of a sentence's characters: B begins a word, E ends it, S is one alone."""
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
