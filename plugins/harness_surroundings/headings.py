"""The context-augmenter `headings` puts the headings of a passage's section before it, outermost first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.plugin import Addition, Document
from harness.toolkit.text.headings import above
from harness_surroundings import Headings


@dataclass(frozen=True)
class Augmenter:
    params: Headings

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            texts = [passage.text for passage in document.passages]
            yield Addition(prefixes=tuple(above(texts, self.params.plain)))
