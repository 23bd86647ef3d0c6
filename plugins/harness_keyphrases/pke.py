"""Keyphrases as the tool pke finds them, to the last tie: the form of DAPR's own.

pke (github.com/boudinfl/pke) implements TopicRank with rules and orders of its own, which the functions here
follow. Where pke relies on a library, the version that DAPR's authors had counts: in SciPy 1.10 the Jaccard
distance compares how often a stem occurs in two candidates, while later versions compare sets.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from harness_keyphrases import kernels
from harness_keyphrases.porter import stem
from harness_keyphrases.topicrank import CUT, DAMPING, Topic

KEPT = frozenset({"NOUN", "PROPN", "ADJ"})
LONGEST = 5  # words
TOLERANCE = 1e-6  # of PageRank, for each topic
ROUNDS = 100

Sentence: TypeAlias = Sequence[tuple[str, str]]  # each token and its part of speech
Reader: TypeAlias = Callable[[str], list[Sentence]]


class Candidate(NamedTuple):
    stems: tuple[str, ...]
    words: tuple[str, ...]  # of its first occurrence, in lowercase
    offsets: list[int]  # how many tokens come before each occurrence


def reader(pipeline: str) -> tuple[Reader, frozenset[str]]:
    """A function that splits a text into sentences of tagged tokens, and the stop words of its language.
    Words keep their hyphens, and sentences end at marks, not where a parser ends them."""
    import spacy
    from spacy.lang.char_classes import HYPHENS
    from spacy.util import compile_infix_regex

    nlp = spacy.load(pipeline, exclude=["parser", "senter", "ner", "textcat", "lemmatizer"])
    nlp.add_pipe("sentencizer")
    infixes = [infix for infix in nlp.Defaults.infixes if HYPHENS not in infix]
    nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer

    def read(text: str) -> list[Sentence]:
        return [[(token.text, token.pos_) for token in sentence] for sentence in nlp(text).sents]

    return read, frozenset(nlp.Defaults.stop_words)


def topics(sentences: Sequence[Sentence], stopwords: frozenset[str]) -> list[Topic]:
    """All topics of a document by descending score. Of equal scores, the earlier cluster's comes first."""
    candidates = [c for c in occurring(sentences) if _is_candidate(c, stopwords)]
    candidates.sort(key=lambda candidate: " ".join(candidate.stems))
    if not candidates:
        return []
    cluster = clustered([candidate.stems for candidate in candidates])
    groups = [[candidates[i] for i in np.flatnonzero(cluster == c)] for c in range(cluster.max() + 1)]
    scores = ranked(weights(groups))
    order = np.argsort(-scores, kind="stable").tolist()
    return [
        Topic(
            " ".join(min(groups[t], key=lambda candidate: candidate.offsets[0]).words),
            float(scores[t]),
            tuple(candidate.stems for candidate in groups[t]),
        )
        for t in order
    ]


def occurring(sentences: Sequence[Sentence]) -> list[Candidate]:
    """The longest sequences of nouns and adjectives in the sentences. Those with the same stems are one
    candidate."""
    found: dict[str, Candidate] = {}
    before = 0
    for sentence in sentences:
        run: list[str] = []
        for place, (word, kind) in enumerate((*sentence, ("", ""))):
            if kind in KEPT:
                run.append(word)
            elif run:
                stems = tuple(map(_stem, run))
                words = tuple(word.lower() for word in run)
                candidate = found.setdefault(" ".join(stems), Candidate(stems, words, []))
                candidate.offsets.append(before + place - len(run))
                run = []
        before += len(sentence)
    return list(found.values())


def _is_candidate(candidate: Candidate, stopwords: frozenset[str]) -> bool:
    """Whether the first occurrence is a phrase by pke's rules; the others follow it."""
    words = candidate.words
    return (
        not stopwords.intersection(words)
        and len("".join(words)) >= 3
        and min(map(len, words)) >= 2
        and len(words) <= LONGEST
        and all(word.replace("-", "").isalnum() for word in words)
    )


def clustered(candidates: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """int64[n]: the cluster of each candidate by average linkage, as SciPy numbers them from 0."""
    if len(candidates) == 1:
        return np.zeros(1, np.int64)
    vocabulary: dict[str, int] = {}
    numbers = [sorted(vocabulary.setdefault(stem, len(vocabulary)) for stem in stems) for stems in candidates]
    ends = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum([len(stems) for stems in numbers], out=ends[1:])
    distances = kernels.count_distances(np.array([n for stems in numbers for n in stems], np.int32), ends)
    clusters: NDArray[np.int32] = fcluster(linkage(distances, method="average"), t=CUT, criterion="distance")
    return clusters.astype(np.int64) - 1


def weights(groups: Sequence[Sequence[Candidate]]) -> NDArray[np.float64]:
    """float64[n, n]: the weight between two topics, summed over the occurrences of their candidates."""
    candidates = [candidate for group in groups for candidate in group]
    topic = np.array([number for number, group in enumerate(groups) for _ in group], np.int64)
    lengths = np.array([len(candidate.stems) for candidate in candidates], np.int64)
    ends = np.zeros(len(candidates) + 1, np.int64)
    np.cumsum([len(candidate.offsets) for candidate in candidates], out=ends[1:])
    offsets = np.array([offset for candidate in candidates for offset in candidate.offsets], np.int64)
    return kernels.gap_edges(offsets, ends, lengths, topic, len(groups))


def ranked(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n]: the PageRank of each topic, in the operations of networkx and their order."""
    n = len(weights)
    if n == 1:
        return np.ones(1)
    edges = weights[~np.eye(n, dtype=bool)]
    rows = np.add.reduceat(edges, np.arange(n) * (n - 1))
    step = (1.0 / rows)[:, None] * weights
    scores = even = np.repeat(1.0 / n, n)
    for _ in range(ROUNDS):
        last = scores
        scores = DAMPING * kernels.passed(last, step) + (1 - DAMPING) * even
        if np.absolute(scores - last).sum() < n * TOLERANCE:
            break
    return scores


_stem = functools.cache(stem)
