"""The maker `strip-titles`: removes the titles of documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.plugin import Document, Made, MakerInput


class StripTitles:
    def __init__(self, params: Any) -> None:
        pass

    def make(self, data: MakerInput) -> Made:
        return Made(documents=_untitled(data))


def _untitled(data: MakerInput) -> Iterator[Document]:
    for document in data.documents():
        if document.title:
            data.tally.add("titles removed")
        yield document._replace(title="")
