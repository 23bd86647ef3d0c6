"""The context-augmenter `keyphrases-from-file`: precomputed keyphrases, such as DAPR's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import pyarrow as pa

from harness.plugin import JSON, Addition, Document
from harness.toolkit.files.by_id import ById, missing_row, of_tables
from harness.toolkit.files.tables import Column
from harness_keyphrases import FromFile

_ID = Column("doc_id", pa.string(), also=("_id", "id"))
# DAPR's code and hub write the last two
_PHRASES = Column("keyphrases", pa.string(), also=("doc_summary", "title"), prose=True, joined="; ")


class Precomputed:
    """The augmenter `keyphrases-from-file`. It reads the file on first use."""

    def __init__(self, params: FromFile) -> None:
        self._params = params

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> dict[str, JSON]:
        params = self._params
        return self._rows.match(documents, "document", params.file, params.missing, params.unknown)

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            [phrases] = self._rows.texts_of([document.id])
            if phrases is None and self._params.missing == "refuse":
                raise missing_row(self._params.file, "document", document.id)
            yield Addition(phrases or "")

    @cached_property
    def _rows(self) -> ById:
        return ById(of_tables([self._params.file], _ID, _PHRASES, header=False))
