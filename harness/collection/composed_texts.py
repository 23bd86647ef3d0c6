"""A corpus as one system reads it, by passage or by document. Context is added when a text is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.context_additions import Additions
from harness.collection.corpus import Corpus
from harness.types import Addition, Batch, Edit, Unit, WholeDocument

if TYPE_CHECKING:
    from harness.types import Ints

PASSAGES = 1024  # passages of whole documents that are read at a time


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
            titles = self.corpus.titles(self.document_of(positions))
            yield Batch(positions, self.take(positions), titles)

    def take(self, positions: Ints) -> list[str]:
        if self.unit == "document":
            return [_joined(next(self._whole(number, number + 1))) for number in positions.tolist()]
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

    def document_of(self, positions: Ints) -> Ints:
        documents = self.corpus.document_of[positions] if self.unit == "passage" else positions
        return documents.astype(np.int64)

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[WholeDocument]:
        stop = self.corpus.documents if stop is None else min(stop, self.corpus.documents)
        for document in self._whole(start, stop):
            if self.unit == "document":
                number = np.array([document.number], np.int64)
                inside = np.array([document.candidates.any()])
                document = document._replace(
                    prefixes=(), positions=number, candidates=inside, texts=[_joined(document)]
                )
            yield document

    def borders(self, size: int) -> Ints:
        return document_borders(self.document_of(self._candidates), size)

    def _whole(self, start: int, stop: int) -> Iterator[WholeDocument]:
        first = self.corpus.first
        while start < stop:
            # as many documents at a time as have PASSAGES passages together, at least one
            end = max(start + 1, int(np.searchsorted(first, first[start] + PASSAGES, "right")) - 1)
            numbers = np.arange(start, end := min(end, stop))
            titles = self.corpus.titles(numbers)
            texts = self.corpus.texts(np.arange(first[start], first[end]))
            stages = [stage.take(numbers) for stage in self.stages]
            for i, (number, title) in enumerate(zip(numbers.tolist(), titles, strict=True)):
                low, high = int(first[number]), int(first[number + 1])
                inner = [additions[i]._replace(prefix="") for additions in stages]
                passages = texts[low - first[start] : high - first[start]]
                yield WholeDocument(
                    number,
                    title,
                    tuple(additions[i].prefix for additions in stages if additions[i].prefix),
                    np.arange(low, high),
                    np.asarray(self.corpus.candidate[low:high]),
                    [compose(text, inner, rank) for rank, text in enumerate(passages)],
                )
            start = end


def _joined(document: WholeDocument) -> str:
    """The text of a document: the prefixes of the whole document, once each, then its passages with their own
    additions, joined by newlines."""
    return "\n".join(part for part in (*document.prefixes, *document.texts) if part)


def document_borders(documents: Ints, size: int) -> Ints:
    """The borders of `harness.contracts.Texts.borders`, from the ascending document numbers of all texts: the
    first border of a document at or after each multiple of `size`."""
    begins = np.append(np.flatnonzero(np.diff(documents, prepend=-1)), len(documents))
    wanted = np.append(np.arange(0, len(documents), size), len(documents))
    return np.unique(begins[np.searchsorted(begins, wanted)])


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
