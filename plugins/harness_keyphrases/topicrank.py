"""TopicRank ranks the topics of a document, from the document's tagged words.

Bougouin, Boudin and Daille, "TopicRank: Graph-Based Topic Ranking for Keyphrase Extraction", IJCNLP 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness_keyphrases import kernels

CUT = 0.74  # the largest mean distance of clusters to merge: they share more than a quarter of the stems
DAMPING = 0.85


class Word(NamedTuple):
    """A token of the text. `keep` says whether it is a noun or an adjective."""

    start: int
    end: int
    keep: bool


class Occurrence(NamedTuple):
    """A longest sequence of nouns and adjectives that may be a keyphrase."""

    offset: int  # how many tokens come before it in the document
    start: int  # its first character in the text
    end: int
    stems: tuple[str, ...]


class Topic(NamedTuple):
    """A group of candidates that share stems. `phrase` is the candidate that occurs first, in lowercase."""

    phrase: str
    score: float
    candidates: tuple[tuple[str, ...], ...]  # the stems of each, in order of first occurrence


class Rules(NamedTuple):
    """The rules by which a sequence of words is a candidate, as in pke, which DAPR used for its
    keyphrases."""

    stem: Callable[[str], str]  # from a lowercase word to its stem
    stopwords: frozenset[str]  # a sequence with one of these is no candidate
    shortest: int  # characters, at least
    shortest_word: int
    longest: int = 5  # words, at most


def occurrences(text: str, words: Sequence[Word], rules: Rules) -> Iterator[Occurrence]:
    """The occurrences of candidates in the text, in order. A sequence ends at the end of a line, because
    lines are passages."""
    run: list[Word] = []
    for offset, word in enumerate(words):
        if run and (not word.keep or "\n" in text[run[-1].end : word.start]):
            yield from _candidate(text, offset - len(run), run, rules)
            run = []
        if word.keep:
            run.append(word)
    if run:
        yield from _candidate(text, len(words) - len(run), run, rules)


def _candidate(text: str, offset: int, run: Sequence[Word], rules: Rules) -> Iterator[Occurrence]:
    if len(run) > rules.longest:
        return
    forms = [text[word.start : word.end].lower() for word in run]
    if sum(map(len, forms)) < rules.shortest or min(map(len, forms)) < rules.shortest_word:
        return
    if all(form not in rules.stopwords and form.replace("-", "").isalnum() for form in forms):
        yield Occurrence(offset, run[0].start, run[-1].end, tuple(map(rules.stem, forms)))


def topics(text: str, occurrences: Sequence[Occurrence]) -> list[Topic]:
    """All topics of the text by descending score. Of topics with equal scores (to 12 digits), the earlier one
    comes first."""
    if not occurrences:
        return []
    numbers: dict[tuple[str, ...], int] = {}  # candidates by their stems, in order of first occurrence
    first: list[Occurrence] = []
    of: list[int] = []
    for occurrence in occurrences:
        number = numbers.setdefault(occurrence.stems, len(first))
        if number == len(first):
            first.append(occurrence)
        of.append(number)
    # `starts` (int32[T]) is the first candidate of each topic, `topic` (int64[C]) the topic of each candidate
    starts, topic = np.unique(clustered(list(numbers)), return_inverse=True)
    offsets = np.array([occurrence.offset for occurrence in occurrences], np.int64)
    weights = kernels.edges(offsets, topic[of].astype(np.int32), len(starts))
    scores = kernels.pagerank(weights, DAMPING)
    members: list[list[tuple[str, ...]]] = [[] for _ in starts]
    for stems, number in zip(numbers, topic.tolist(), strict=True):
        members[number].append(stems)
    ranked = np.lexsort((starts, -np.round(scores, 12)))
    return [
        Topic(written(text, first[starts[t]]), float(scores[t]), tuple(members[t])) for t in ranked.tolist()
    ]


def clustered(candidates: Sequence[tuple[str, ...]]) -> np.typing.NDArray[np.int32]:
    """int32[C]: for each candidate, the first candidate of its topic. Each component of candidates that are
    connected by common stems is clustered by itself, because two components have a mean distance of 1, which
    is above the cut."""
    vocabulary: dict[str, int] = {}
    sets = [sorted({vocabulary.setdefault(stem, len(vocabulary)) for stem in stems}) for stems in candidates]
    ends = np.zeros(len(sets) + 1, np.int64)
    np.cumsum([len(numbers) for numbers in sets], out=ends[1:])
    stems = np.array([number for numbers in sets for number in numbers], np.int32)
    part = kernels.components(stems, ends, len(vocabulary))
    topic = np.arange(len(sets), dtype=np.int32)
    order = np.argsort(part, kind="stable").astype(np.int32)
    for members in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if len(members) > 1:
            kernels.cluster(members, stems, ends, CUT, topic)
    return topic


def written(text: str, occurrence: Occurrence) -> str:
    """The words of the occurrence in the text, in lowercase, with white space reduced to single spaces."""
    return " ".join(text[occurrence.start : occurrence.end].lower().split())
