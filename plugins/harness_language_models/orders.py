"""Orders from a model's answers: windows, permutations that are mended, and a heap that asks for the best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def windows(count: int, size: int, step: int) -> Iterator[tuple[int, int]]:
    """The windows of a list, from its tail to its head; the last one begins at 0."""
    stop = count
    while stop > 1:
        start = max(0, stop - size)
        yield start, stop
        if start == 0:
            return
        stop -= step


def permutation(text: str, count: int) -> tuple[list[int], bool]:
    """The order that an answer such as `[2] > [1]` gives, from 0. What it names twice or out of range is left
    out, what it does not name follows in the order that was; whether any of that was needed."""
    marked = re.findall(r"\[(\d+)\]", text)
    numbers = [int(word) - 1 for word in marked or re.findall(r"\d+", text) if len(word) < 10]
    named = list(dict.fromkeys(number for number in numbers if 0 <= number < count))
    rest = [number for number in range(count) if number not in set(named)]
    return [*named, *rest], numbers != named or bool(rest)


def letter(text: str, letters: str) -> int | None:
    """The place of the letter that an answer names, None if it names none."""
    found = re.search(rf"(?:^|\bpassage\s+|[^\w])([{letters}])(?![\w'])", text.strip(), re.IGNORECASE)
    return letters.index(found[1].upper()) if found else None


def scores_of(order: Sequence[int]) -> list[float]:
    """The score of each item: as many as stand behind it."""
    scores = [0.0] * len(order)
    for place, item in enumerate(order):
        scores[item] = float(len(order) - place)
    return scores


class Heap:
    """Heapsort of items 0 to n - 1, in their order at first, where someone else says which of a parent and
    its children is best. The best `top` come out in order, the rest keeps the order that it had."""

    def __init__(self, count: int, children: int, top: int) -> None:
        self._children, self._top = children, min(top, count)
        self._heap = list(range(count))
        self._sorted: list[int] = []
        self._waiting = [node for node in range(count) if node * children + 1 < count]  # from the last
        self._node = -1
        self._group: list[int] | None = None
        self._advance()

    def group(self) -> list[int] | None:
        """The items among which the best is wanted next, the parent first; None when all is done."""
        return self._group

    def choose(self, best: int) -> None:
        assert self._group is not None
        if best != self._group[0]:
            place = self._heap.index(best)
            self._heap[self._node], self._heap[place] = best, self._heap[self._node]
            self._waiting.append(place)  # what went down may be below one of its new children
        self._advance()

    def order(self) -> list[int]:
        return [*self._sorted, *sorted(set(self._heap))]

    def _advance(self) -> None:
        """Go on to the next question: while a heap is made or mended, then after the root came out."""
        while len(self._sorted) < self._top:
            while self._waiting:
                self._node = self._waiting.pop()
                below = self._node * self._children + 1
                children = self._heap[below : below + self._children]
                if children:
                    self._group = [self._heap[self._node], *children]
                    return
            self._sorted.append(self._heap[0])
            last = self._heap.pop()
            if self._heap:
                self._heap[0] = last
                self._waiting.append(0)
        self._group = None
