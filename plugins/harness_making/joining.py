"""The maker `join-paragraphs`: joins paragraphs to useful lengths (DuReader-retrieval, 2.2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from harness.plugin import Document, Made, MakerInput, Passage
from harness_making import JoinParams
from harness_making.moving import moved


class Join:
    """Joins the paragraphs of a document to passages. A document below the limit becomes one passage. In a
    longer document, a paragraph below the limit is joined with the next ones until the passage is longer than
    the limit. Lengths are in characters, without the separators."""

    def __init__(self, params: JoinParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        joined_into: dict[str, str] = {}  # a paragraph -> the passage that it became part of
        return Made(
            documents=self._documents(data, joined_into),
            judgements=moved(data, joined_into, "of another part of the same passage"),
        )

    def _documents(self, data: MakerInput, joined_into: dict[str, str]) -> Iterator[Document]:
        for document in data.documents():
            groups = self.groups([len(passage.text) for passage in document.passages])
            passages = []
            for start, stop in groups:
                passage = self._joined(document.passages[start:stop])
                passages.append(passage)
                if stop - start > 1:
                    data.tally.drop("passages", "joined with the one before", passage.text, stop - start - 1)
                    for part in document.passages[start:stop]:
                        joined_into[part.id] = passage.id
            if len(document.passages) > 1 and len(groups) == 1:
                data.tally.add("documents that became one passage")
            yield document._replace(passages=tuple(passages))

    def groups(self, lengths: list[int]) -> list[tuple[int, int]]:
        """The ranges of paragraphs that become passages. The paragraphs left at a document's end are a
        passage of their own, however short."""
        limit = self._params.limit
        if self._params.join_whole == "below" and sum(lengths) < limit:
            return [(0, len(lengths))]
        groups, start = [], 0
        while start < len(lengths):
            stop, length = start + 1, lengths[start]
            if length < limit:
                while length <= limit and stop < len(lengths):
                    length += lengths[stop]
                    stop += 1
            groups.append((start, stop))
            start = stop
        return groups

    def _joined(self, parts: tuple[Passage, ...]) -> Passage:
        """The parts as one passage, with the id of the first part. It is a candidate if any part is."""
        if len(parts) == 1:
            return parts[0]
        text = self._params.separator.join(part.text for part in parts)
        return Passage(parts[0].id, text, any(part.candidate for part in parts))
