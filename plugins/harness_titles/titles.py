"""Prepends titles to passages, for the context-augmenter `titles`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.plugin import Addition, Document, HarnessError
from harness_titles import TitlesParams


@dataclass(frozen=True)
class Titles:
    params: TitlesParams

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        return (Addition(prefix=prefix(document, self.params.missing)) for document in documents)


def prefix(document: Document, missing: str) -> str:
    """The text to put before each passage of `document`. The harness adds the space after it."""
    title = document.title.strip()
    if names_something(title) or missing == "verbatim":
        return title
    if missing == "refuse":
        problem = f"has a title of punctuation only, {title!r}" if title else "has no title"
        raise HarnessError(
            f"titles: the document '{document.id}' {problem}; "
            "give it a title, or choose missing: skip or missing: verbatim"
        )
    return ""


def names_something(title: str) -> bool:
    """Whether any character is a letter or a digit of any script."""
    return any(character.isalnum() for character in title)
