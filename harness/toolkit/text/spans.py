"""Reads texts through the spans of an analyser: threads cut and hash; the numbering runs in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.toolkit.text.analysis import Encoded, Spanning
from harness.toolkit.text.interning import hash_spans, intern, rehash


class Tokens(NamedTuple):
    """The tokens of one batch of texts."""

    text: NDArray[np.uint32]  # uint32[C]: the code points of all texts
    starts: NDArray[np.int32]  # int32[T]
    lengths: NDArray[np.int32]  # int32[T]
    ends: NDArray[np.int64]  # int64[n]
    hashes: NDArray[np.uint64]  # uint64[T, 2]


def encode(
    analyser: Spanning, batches: Iterable[list[str]], number: Callable[[str], int], threads: int
) -> Iterator[Encoded]:
    """Yields the terms of each batch, in order. `number` is called once for each different token."""
    table = _Table(analyser, number)
    waiting: deque[Future[Tokens]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for texts in batches:
            waiting.append(pool.submit(_cut, analyser, texts))
            if len(waiting) > threads + 1:
                yield table.encode(waiting.popleft().result())
        while waiting:
            yield table.encode(waiting.popleft().result())


def _cut(analyser: Spanning, texts: list[str]) -> Tokens:
    texts = [analyser.prepare(text) for text in texts]
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    text = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    starts, lengths, ends = analyser.spans(text, bounds)
    hashes = np.empty((len(starts), 2), np.uint64)
    hash_spans(text, starts, lengths, hashes)
    return Tokens(text, starts, lengths, ends, hashes)


class _Table:
    """A hash table of all tokens met so far, with the number of each token's term."""

    def __init__(self, analyser: Spanning, number: Callable[[str], int]) -> None:
        self._analyser, self._number = analyser, number
        self._slots = np.zeros((1 << 16, 2), np.uint64)
        self._known = 0
        self._term_of = np.empty(1 << 15, np.int32)  # int32[tokens]: token -> term, -1 for none

    def encode(self, tokens: Tokens) -> Encoded:
        numbers = np.empty(len(tokens.starts), np.int32)
        new = np.empty(len(tokens.starts) + 1, np.int64)
        done = 0
        while done < len(numbers):
            most = len(self._slots) // 2
            done = intern(tokens.hashes, done, self._slots, self._known, most, numbers, new)
            self._learn(tokens, new[1 : new[0] + 1])
            if done < len(numbers):
                self._grow()
        terms = self._term_of[numbers]
        kept = terms >= 0
        counts = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=counts[1:])
        return Encoded(terms[kept], counts[tokens.ends])

    def _learn(self, tokens: Tokens, places: NDArray[np.int64]) -> None:
        for place in places.tolist():
            start = int(tokens.starts[place])
            span = tokens.text[start : start + int(tokens.lengths[place])]
            token = span.tobytes().decode("utf-32-le", "surrogatepass")
            self._term_of[self._known] = self._number(self._analyser.term(token))
            self._known += 1

    def _grow(self) -> None:
        slots = np.zeros((4 * len(self._slots), 2), np.uint64)
        rehash(self._slots, slots)
        self._slots = slots
        self._term_of = np.concatenate([self._term_of, np.empty(3 * len(self._term_of), np.int32)])
