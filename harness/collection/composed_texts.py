"""A corpus as one system reads it, by passage or by document. Context is added when a text is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.context_additions import Additions
from harness.collection.corpus import Corpus
from harness.types import Addition, Batch, Edit, Unit

if TYPE_CHECKING:
    from harness.types import Ints


class View:
    """The texts of a corpus with the stored additions of a chain of context stages. It implements
    `harness.contracts.Texts`."""

    def __init__(
        self,
        corpus: Corpus,
        stages: Sequence[Additions] = (),
        unit: Unit = "passage",
        language: str | None = None,
    ) -> None:
        self.corpus = corpus
        self.stages = tuple(stages)
        self.unit = unit
        self.language = language
        if unit == "passage":
            self.size = corpus.passages
            self._candidates = np.flatnonzero(corpus.candidate)
        else:
            self.size = corpus.documents
            inside = np.add.reduceat(corpus.candidate, corpus.first[:-1]) if self.size else np.zeros(0)
            self._candidates = np.flatnonzero(inside)

    def __len__(self) -> int:
        return len(self._candidates)

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        stop = len(self) if stop is None else min(stop, len(self))
        for low in range(start, stop, size):
            positions = self._candidates[low : min(low + size, stop)].astype(np.int64)
            documents = self.corpus.document_of[positions] if self.unit == "passage" else positions
            yield Batch(positions, self.take(positions), self.corpus.titles(documents))

    def take(self, positions: Ints) -> list[str]:
        if self.unit == "document":
            return [self._document(int(document)) for document in positions]
        texts = self.corpus.texts(positions)
        if not self.stages:
            return texts
        documents = self.corpus.document_of[positions]
        ranks = positions - self.corpus.first[documents]
        stage_additions = [stage.take(documents.astype(np.int64)) for stage in self.stages]
        return [
            compose(text, [additions[i] for additions in stage_additions], int(ranks[i]))
            for i, text in enumerate(texts)
        ]

    def ids(self, positions: Ints) -> list[str]:
        return (self.corpus.ids if self.unit == "passage" else self.corpus.document_ids)(positions)

    def progress(self, done: int) -> None:
        """Does nothing; subclasses report the progress."""

    def _document(self, document: int) -> str:
        """The text of a document: the prefixes of the whole document, once each, then its passages with their
        own additions, joined by newlines."""
        first, end = int(self.corpus.first[document]), int(self.corpus.first[document + 1])
        texts = self.corpus.texts(np.arange(first, end))
        additions = [stage.take(np.array([document], np.int64))[0] for stage in self.stages]
        inner = [addition._replace(prefix="") for addition in additions]
        parts = [addition.prefix for addition in additions]
        parts += [compose(text, inner, rank) for rank, text in enumerate(texts)]
        return "\n".join(part for part in parts if part)


def compose(text: str, additions: Sequence[Addition], rank: int) -> str:
    """The text of a passage with the additions of every stage: the prefixes in the order of the stages, then
    the text with all edits made, joined by spaces. `rank` is the place of the passage in its document."""
    prefixes = []
    edits: list[Edit] = []
    for addition in additions:
        prefixes.append(addition.prefix)
        if addition.prefixes:
            prefixes.append(addition.prefixes[rank])
        if addition.edits:
            edits.extend(addition.edits[rank])
    parts = [prefix for prefix in prefixes if prefix]
    body = edited(text, edits)
    return " ".join([*parts, body]) if body else " ".join(parts)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits made. If two stages edit the same characters, the edit of the first stage is
    made."""
    if not edits:
        return text
    pieces, at = [], 0
    for i in kept(edits):
        edit = edits[i]
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def kept(edits: Sequence[Edit]) -> list[int]:
    """The numbers of the edits that are made, in the order of the text. An edit that overlaps an earlier edit
    of the list is not made."""
    kept_stages: list[int] = []
    for i, edit in enumerate(edits):
        if all(edit.end <= edits[j].start or edit.start >= edits[j].end for j in kept_stages):
            kept_stages.append(i)
    return sorted(kept_stages, key=lambda i: (edits[i].start, edits[i].end))
