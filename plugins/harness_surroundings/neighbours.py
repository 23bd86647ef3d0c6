"""The context-augmenter `neighbours`: the passages around a passage, before it and at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.types import Addition, Document, Edit


@dataclass(frozen=True)
class Augmenter:
    before: int
    after: int

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        return (around(document, self.before, self.after) for document in documents)


def around(document: Document, before: int, after: int) -> Addition:
    """Passages of white space alone are passed over, so that each gets as many neighbours as there are."""
    texts = [passage.text for passage in document.passages]
    full = [i for i, text in enumerate(texts) if text.strip()]
    prefixes: list[str] = []
    edits: list[tuple[Edit, ...]] = []
    passed = 0  # how many of `full` come before passage i
    for i, text in enumerate(texts):
        own = passed < len(full) and full[passed] == i
        prefixes.append(" ".join(texts[j] for j in full[max(0, passed - before) : passed]))
        passed += own
        following = " ".join(texts[j] for j in full[passed : passed + after])
        space = " " if own else ""
        edits.append((Edit(len(text), len(text), space + following),) if following else ())
    return Addition(prefixes=tuple(prefixes), edits=tuple(edits))
