"""Long documents in windows: a resolver whose time grows faster than its text reads some passages at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness_coreference.contract import Cluster, Mention, Resolver


@dataclass(frozen=True)
class Windowed:
    """Windows of whole passages, of at most `words` words unless one passage alone is longer. Each begins
    with the second half of the one before it, where that has passages that short, and clusters of two windows
    that share a mention become one: a chain is followed as long as every such half mentions it."""

    resolver: Resolver
    words: int

    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        found: list[Cluster] = []
        for start, stop in windows([len(text.split()) for text in passages], self.words):
            for cluster in self.resolver.resolve(passages[start:stop]):
                found.append(tuple(mention._replace(passage=mention.passage + start) for mention in cluster))
        return merged(found)


def windows(lengths: Sequence[int], words: int) -> Iterator[tuple[int, int]]:
    """Ranges of passages that together are all of them, in order."""
    start = stop = 0
    while stop < len(lengths):
        stop, total = max(stop, start), sum(lengths[start:stop])
        before = stop
        while stop < len(lengths) and (stop == start or total + lengths[stop] <= words):
            total += lengths[stop]
            stop += 1
        if stop == before:  # the next passage does not fit beside what is repeated
            start = stop
            continue
        yield start, stop
        start = _half(lengths, start, stop, words)


def _half(lengths: Sequence[int], start: int, stop: int, words: int) -> int:
    """Where the second half of a window begins: its last passages of at most half its words."""
    total, at = 0, stop
    while at > start + 1 and total + lengths[at - 1] <= words // 2:
        at -= 1
        total += lengths[at]
    return at


def merged(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Clusters that share a mention are one; in the order of their first mentions."""
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
