"""Cuts documents that are longer than a prompt may be: windows of whole passages, with the headings above."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.toolkit.text.headings import above

HEADINGS = 300  # the most characters of the headings above a window
LEFT_OUT = "[...]"


class Window(NamedTuple):
    """The passages `start` to `stop` of a document, and those of them that are asked about with this
    window."""

    start: int
    stop: int
    asked: range


def windows(lengths: Sequence[int], room: int) -> list[Window]:
    """The windows over passages of these lengths, each of at most `room` in all; one if the document fits.
    Passages side by side share a window, so that their prompts begin alike: those of a window together fill
    at most half of it, or are a single passage. What is left is filled on both sides, where possible
    evenly."""
    count, first = len(lengths), 0
    if sum(lengths) <= room:
        return [Window(0, count, range(count))]
    cut: list[Window] = []
    while first < count:
        last, size = first + 1, lengths[first]
        while last < count and size + lengths[last] <= room // 2:
            size, last = size + lengths[last], last + 1
        start, stop, balance = first, last, 0
        while True:
            left = start > 0 and size + lengths[start - 1] <= room
            right = stop < count and size + lengths[stop] <= room
            if left and (balance <= 0 or not right):
                start, size, balance = start - 1, size + lengths[start - 1], balance + lengths[start - 1]
            elif right:
                size, balance, stop = size + lengths[stop], balance - lengths[stop], stop + 1
            else:
                break
        cut.append(Window(start, stop, range(first, last)))
        first = last
    return cut


def shown(texts: Sequence[str], cut: Sequence[Window]) -> list[str]:
    """The text of each window. In a cut document, the headings above the window's first passage come
    first."""
    headings, shares = above(texts, plain=True) if len(cut) > 1 else [], []
    for start, stop, _ in cut:
        lines = [headings[start][:HEADINGS], LEFT_OUT] if start else []
        lines += [*texts[start:stop], *[LEFT_OUT] * (stop < len(texts))]
        shares.append("\n".join(line for line in lines if line))
    return shares


def shortened(text: str, room: int, length: Callable[[str], int]) -> str:
    """The text, cut at its end to a length of at most `room`."""
    while (size := length(text)) > room:
        text = text[: min(len(text) * room // size, len(text) - 1)]
    return text
