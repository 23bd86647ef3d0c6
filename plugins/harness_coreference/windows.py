"""Splits long documents into windows, for resolvers whose time grows faster than the length of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from harness_coreference.contract import Cluster, Mention, Resolver

# matches a word; more than 50 characters without a space count as several words
_WORD = re.compile(r"\S{1,50}")


class Piece(NamedTuple):
    """A passage, or the part of a long passage that begins at character `start`."""

    passage: int
    start: int
    text: str
    words: int


@dataclass(frozen=True)
class Windowed:
    """A resolver that reads a document in windows of whole passages, of at most `words` words. A passage with
    more words is read as several parts. Each window but the first begins with the last passages of the window
    before, as far as they have at most half of `words`. Clusters of two windows that share a mention are
    merged. So a cluster continues over many windows if each overlap of two windows has a mention of it."""

    resolver: Resolver
    words: int

    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        parts = [part for number, text in enumerate(passages) for part in pieces(number, text, self.words)]
        resolved: list[Cluster] = []
        for start, stop in windows([part.words for part in parts], self.words):
            for cluster in self.resolver.resolve([part.text for part in parts[start:stop]]):
                resolved.append(
                    tuple(_placed(mention, parts[start + mention.passage]) for mention in cluster)
                )
        return merged(resolved)


def pieces(passage: int, text: str, words: int) -> Iterator[Piece]:
    """Yields the whole passage. If it has more than `words` words, it is split into parts of half as many
    words instead, so that windows can overlap within the passage."""
    starts = [match.start() for match in _WORD.finditer(text)]
    if len(starts) <= words:
        yield Piece(passage, 0, text, len(starts))
        return
    half = words // 2
    for number, (start, end) in enumerate(pairwise([0, *starts[half::half], len(text)])):
        yield Piece(passage, start, text[start:end], len(starts[number * half : (number + 1) * half]))


def _placed(mention: Mention, part: Piece) -> Mention:
    return Mention(part.passage, part.start + mention.start, part.start + mention.end)


def windows(lengths: Sequence[int], words: int) -> Iterator[tuple[int, int]]:
    """Yields overlapping ranges of passages that cover all passages, in order."""
    start = stop = 0
    while stop < len(lengths):
        stop, total = max(stop, start), sum(lengths[start:stop])
        before = stop
        while stop < len(lengths) and (stop == start or total + lengths[stop] <= words):
            total += lengths[stop]
            stop += 1
        if stop == before:  # the next passage does not fit beside the repeated passages
            start = stop
            continue
        yield start, stop
        start = _half(lengths, start, stop, words)


def _half(lengths: Sequence[int], start: int, stop: int, words: int) -> int:
    """The start of a window's second half: its last passages with at most half of `words` in total."""
    total, at = 0, stop
    while at > start + 1 and total + lengths[at - 1] <= words // 2:
        at -= 1
        total += lengths[at]
    return at


def merged(clusters: Sequence[Cluster]) -> list[Cluster]:
    """The clusters, with clusters that share a mention merged, in the order of their first mentions."""
    parents = list(range(len(clusters)))
    owner: dict[Mention, int] = {}

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for number, cluster in enumerate(clusters):
        for mention in cluster:
            one, other = sorted((root(owner.setdefault(mention, number)), root(number)))
            parents[other] = one
    groups: dict[int, set[Mention]] = {}
    for number, cluster in enumerate(clusters):
        groups.setdefault(root(number), set()).update(cluster)
    return sorted(tuple(sorted(group)) for group in groups.values())
