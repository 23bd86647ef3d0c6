"""The context-augmenter `keyphrases` puts the best topics of a document before each of its passages."""

from __future__ import annotations

import functools
import multiprocessing
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import Stemmer

from harness.plugin import Addition, Document
from harness_keyphrases import PIPELINE, Keyphrases, taggers, topicrank
from harness_keyphrases.topicrank import Rules

AHEAD = 256  # documents read before the first addition
ALONE = 5.0  # seconds of work before other processes are started, which takes a second or two itself
TOGETHER = 16  # documents handed to a process at once

# Adjectives and nouns that say how many or which, but not what.
STOPWORDS = """
able another available certain due enough entire few fewer first following former full further last
later latter least less likely little lot lots many more most much next one ones only other others
own possible previous same second several such thing things third unable various very whole
"""


class Augmenter:
    """The augmenter. It works in its own process for `alone` seconds, then spreads the remaining documents
    over other processes, which end with this object. The results do not depend on the number of processes."""

    def __init__(self, params: Keyphrases, processes: int | None = None, alone: float = ALONE) -> None:
        self._params = params
        self._left = alone  # seconds
        self._processes = processes or cores()
        self._pool: ProcessPoolExecutor | None = None

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        texts = (text_of(document, self._params.characters) for document in documents)
        while window := list(islice(texts, AHEAD)):
            if self._processes == 1 or self._left > 0:
                began = time.perf_counter()
                extractions = iter(extracted(self._params, window))
                self._left -= time.perf_counter() - began
            else:
                extractions = spread(self._workers(), self._params, window, 2 * self._processes)
            for prefix in extractions:
                yield Addition(prefix=prefix)

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._processes, multiprocessing.get_context("spawn"))
            # the processes end with this object, so that the step's cost includes theirs
            weakref.finalize(self, self._pool.shutdown, cancel_futures=True)
        return self._pool


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def text_of(document: Document, characters: int) -> str:
    """The document's passages without its title, one per line, cut to `characters` as in DAPR."""
    return "\n".join(passage.text for passage in document.passages)[:characters]


def spread(
    pool: ProcessPoolExecutor, params: Keyphrases, texts: Sequence[str], waiting: int
) -> Iterator[str]:
    """The keyphrases of each text as `extracted` returns them, in order. At most `waiting` parts of the texts
    are in work at once."""
    begun: deque[Future[list[str]]] = deque()
    for start in range(0, len(texts), TOGETHER):
        begun.append(pool.submit(extracted, params, texts[start : start + TOGETHER]))
        if len(begun) >= waiting:
            yield from begun.popleft().result()
    for future in begun:
        yield from future.result()


def extracted(params: Keyphrases, texts: Sequence[str]) -> list[str]:
    """The keyphrases of each text, joined to the prefix of the document's passages."""
    topics = extractor(params)
    return ["; ".join(topic.phrase for topic in topics(text)[: params.top]) for text in texts]


@functools.cache  # a process builds its tagger once
def extractor(params: Keyphrases) -> Callable[[str], list[topicrank.Topic]]:
    """A function from a text to all its topics, best first."""
    if params.form == "pke":
        from harness_keyphrases import pke  # it imports SciPy's clustering

        read, stopwords = pke.reader(_pipeline(params))
        return lambda text: pke.topics(read(text), stopwords)
    tag = tagger(params)
    rules = chinese() if params.tagger == "jieba" else english()

    def topics(text: str) -> list[topicrank.Topic]:
        return topicrank.topics(text, list(topicrank.occurrences(text, tag(text), rules)))

    return topics


def tagger(params: Keyphrases) -> taggers.Tagger:
    if params.tagger == "embedded":
        return taggers.embedded()
    if params.tagger == "jieba":
        return taggers.jieba_()
    return taggers.spacy_(_pipeline(params))


def _pipeline(params: Keyphrases) -> str:
    """The package or folder of the pipeline, without its version."""
    pipeline = params.pipeline or PIPELINE
    return str(pipeline) if isinstance(pipeline, Path) else pipeline.partition("==")[0]


def english() -> Rules:
    """The rules for English: Snowball's stems, and the least lengths of pke."""
    stem = functools.cache(Stemmer.Stemmer("english").stemWord)
    return Rules(stem, frozenset(STOPWORDS.split()), shortest=3, shortest_word=2)


def chinese() -> Rules:
    """The rules for Chinese: a word is its own stem, and a candidate has at least two characters."""
    return Rules(str, frozenset(), shortest=2, shortest_word=1)
