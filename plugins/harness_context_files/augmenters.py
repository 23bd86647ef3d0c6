"""The context-augmenters `prefix-from-file` and `text-from-file`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import pyarrow as pa

from harness.plugin import JSON, Addition, Document, Edit, HarnessError
from harness.toolkit.files.by_id import ById, missing_row, of_tables
from harness.toolkit.files.tables import Column
from harness_context_files import PrefixParams, TextParams

_ID = Column("id", pa.string(), also=("_id",))


class _FromFile:
    """What both augmenters share: a text for each passage, from a file that is read on first use."""

    def __init__(self, params: PrefixParams | TextParams) -> None:
        if params.column in (_ID.name, *_ID.also):
            raise HarnessError(f"column: '{params.column}' holds ids of passages; name the column of texts")
        self._params = params

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> dict[str, JSON]:
        params = self._params
        return self._rows.match(passages, "passage", params.file, params.missing, params.unknown)

    def _texts(self, document: Document) -> Sequence[str | None]:
        """The file's text for each passage, or None if it is missing."""
        ids = [passage.id for passage in document.passages]
        texts = self._rows.texts_of(ids)
        if None in texts and self._params.missing == "refuse":
            raise missing_row(self._params.file, "passage", ids[texts.index(None)])
        return texts

    @cached_property
    def _rows(self) -> ById:
        column = Column(self._params.column, pa.string(), prose=True)
        return ById(of_tables([self._params.file], _ID, column), "passage")


class Prefixes(_FromFile):
    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            yield Addition(prefixes=tuple(text or "" for text in self._texts(document)))


class Texts(_FromFile):
    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            pairs = zip(document.passages, self._texts(document), strict=True)
            yield Addition(
                edits=tuple(
                    () if text in (None, passage.text) else (Edit(0, len(passage.text), text or ""),)
                    for passage, text in pairs
                )
            )
