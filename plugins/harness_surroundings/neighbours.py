"""The context-augmenter `neighbours` puts the preceding and following passages around a passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.plugin import Addition, Document, Edit
from harness_surroundings import Neighbours


@dataclass(frozen=True)
class Augmenter:
    params: Neighbours

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        return (around(document, self.params.before, self.params.after) for document in documents)


def around(document: Document, before: int, after: int) -> Addition:
    """The neighbours of each passage, as prefixes and edits. Passages of white space are not counted as
    neighbours."""
    texts = [passage.text for passage in document.passages]
    full = [i for i, text in enumerate(texts) if text.strip()]
    prefixes: list[str] = []
    edits: list[tuple[Edit, ...]] = []
    passed = 0  # the number of items of `full` before passage i
    for i, text in enumerate(texts):
        current = passed < len(full) and full[passed] == i
        prefixes.append(" ".join(texts[j] for j in full[max(0, passed - before) : passed]))
        passed += current
        following = " ".join(texts[j] for j in full[passed : passed + after])
        space = " " if current else ""
        edits.append((Edit(len(text), len(text), space + following),) if following else ())
    return Addition(prefixes=tuple(prefixes), edits=tuple(edits))
