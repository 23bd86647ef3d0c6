"""The context-augmenter `summary` puts a document's first sentences, English or Chinese, before a passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from harness.plugin import Addition, Document
from harness_surroundings import Summary

# Full-width marks end a sentence anywhere. Other marks end it only before white space that no lowercase
# letter follows. The possessive quantifiers read a row of marks once, so the time is linear in the text.
END = re.compile(r"""[。！？…]++[”’」』）】]*+|(?<![.!?])[.!?]++["'”’)\]]*+(?=\s++[^\sa-z])""")
# A dot after one of these abbreviations, or after a single capital, ends no sentence.
ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|Mrs?|Ms|Drs?|Prof|St|Jr|Sr|No|Nos|Fig|Figs|Eq|vs|cf|al|approx|e\.g|i\.e|Inc|Ltd|Co)$"
)
ABBREVIATED = 8  # characters before a dot to search for an abbreviation: more than the longest one has


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


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text. The end of a line ends a sentence. Text without letters and digits is no
    sentence."""
    for line in text.splitlines():
        start = 0
        for match in END.finditer(line):
            before = line[max(start, match.start() - ABBREVIATED) : match.start()]
            if line[match.start()] != "." or not ABBREVIATION.search(before):
                yield from _real(line[start : match.end()])
                start = match.end()
        yield from _real(line[start:])


def _real(sentence: str) -> Iterator[str]:
    if any(character.isalnum() for character in sentence):
        yield sentence.strip()
