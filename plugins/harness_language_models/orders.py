"""Makes orders of passages from a model's answers: windows, mended permutations, and a heapsort."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


def windows(count: int, size: int, step: int) -> Iterator[tuple[int, int]]:
    """The start and stop of the windows over a list of `count` items, from its tail to its head. The last
    window begins at 0."""
    stop = count
    while stop > 1:
        start = max(0, stop - size)
        yield start, stop
        if start == 0:
            return
        stop -= step


def permutation(text: str, count: int) -> tuple[list[int], bool]:
    """The order in an answer such as `[2] > [1]`, with items from 0, and whether the answer had to be mended.
    In a mended order, repeated numbers and numbers out of range are left out. Items that the answer does not
    name follow in their old order."""
    marked = re.findall(r"\[(\d+)\]", text)
    numbers = [int(word) - 1 for word in marked or re.findall(r"\d+", text) if len(word) < 10]
    named = list(dict.fromkeys(number for number in numbers if 0 <= number < count))
    rest = [number for number in range(count) if number not in set(named)]
    return [*named, *rest], numbers != named or bool(rest)


def letter(text: str, letters: str) -> int | None:
    """The place in `letters` of the letter that an answer names, or None if it names none."""
    match = re.search(rf"(?:^|\bpassage\s+|[^\w])([{letters}])(?![\w'])", text.strip(), re.IGNORECASE)
    return letters.index(match[1].upper()) if match else None


def scores_of(order: Sequence[int]) -> list[float]:
    """The score of each item of an order: the number of items from its place to the end of the order."""
    scores = [0.0] * len(order)
    for place, item in enumerate(order):
        scores[item] = float(len(order) - place)
    return scores


class Heap:
    """A heapsort of the items 0 to `count` - 1. The caller answers which item of a `group`, a parent and its
    children, is best. The best `top` items are sorted, and the others keep their old order."""

    def __init__(self, count: int, children: int, top: int) -> None:
        self._children, self._top = children, min(top, count)
        self._heap = list(range(count))
        self._sorted: list[int] = []
        self._waiting = [node for node in range(count) if node * children + 1 < count]  # taken from its end
        self._node = -1
        self._group: list[int] | None = None
        self._advance()

    def group(self) -> list[int] | None:
        """The items of which the best must be chosen next, the parent first, or None when the sort is
        done."""
        return self._group

    def choose(self, best: int) -> None:
        assert self._group is not None
        if best != self._group[0]:
            place = self._heap.index(best)
            self._heap[self._node], self._heap[place] = best, self._heap[self._node]
            self._waiting.append(place)  # the item that went down may be worse than its new children
        self._advance()

    def order(self) -> list[int]:
        return [*self._sorted, *sorted(set(self._heap))]

    def _advance(self) -> None:
        """Find the next group. Nodes that still wait for a comparison come first. When none waits, the root
        is the next best item, and the last item takes its place."""
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
