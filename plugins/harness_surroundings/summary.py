"""The context-augmenter `summary` puts a document's first sentences, English or Chinese, before a passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from harness.plugin import Addition, Document
from harness.toolkit.text.sentences import sentences
from harness_surroundings import Summary


@dataclass(frozen=True)
class Augmenter:
    params: Summary

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        return (first(document, self.params.sentences) for document in documents)


def first(document: Document, count: int) -> Addition:
    """The first `count` sentences of the document as prefix of each passage, without those that the passage
    itself contains."""
    taken = list(islice(_placed(document), count))
    return Addition(
        prefixes=tuple(
            " ".join(sentence for place, sentence in taken if place != i)
            for i in range(len(document.passages))
        )
    )


def _placed(document: Document) -> Iterator[tuple[int, str]]:
    """Each sentence with the index of its passage."""
    for i, passage in enumerate(document.passages):
        for sentence in sentences(passage.text):
            yield i, sentence
