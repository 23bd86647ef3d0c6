"""The context-augmenter `coreference-clusters`: it reads the clusters of another resolver from a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import pyarrow as pa

from harness.plugin import JSON, Addition, Document
from harness.toolkit.files.by_id import ById, Rows, missing_row
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import refuse
from harness_coreference.annotate import edits
from harness_coreference.contract import Cluster, Mention

if TYPE_CHECKING:
    from harness_coreference import ClustersParams

Spans: TypeAlias = list[list[list[int]]]  # clusters of [start, end] in the text, or [passage, start, end]


class Line(msgspec.Struct, gc=False):
    id: str
    clusters: Spans
    text: str | None = None


_KEYS = Keys(("id", "clusters"), {"id": ("str",), "clusters": ("list",), "text": ("str", "NoneType")})


class Clusters:
    """An augmenter that reads each document's clusters from a file. Clusters are used if their text is the
    document's passages, in order, with only white space between them. A mention that crosses the end of a
    passage is left out, because it can be neither annotated nor used as an antecedent."""

    def __init__(self, params: ClustersParams) -> None:
        self.params = params

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> Mapping[str, JSON]:
        params = self.params
        return self._rows.match(documents, "document", params.path, params.missing, params.unknown)

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            [row] = self._rows.texts_of([document.id])
            if row is None:
                if self.params.missing == "refuse":
                    raise missing_row(self.params.path, "document", document.id)
                yield Addition()
                continue
            passages = [passage.text for passage in document.passages]
            clusters = placed(msgspec.json.decode(row, type=Line), passages)
            if clusters is None:
                if self.params.differs == "refuse":
                    refuse(
                        *self._rows.place(document.id),
                        f"its text or its offsets are not those of the document '{document.id}'; resolve "
                        "this corpus again, or leave such documents as they are with differs: skip",
                    )
                yield Addition()
                continue
            yield Addition(edits=edits(passages, clusters, self.params.same))

    @cached_property
    def _rows(self) -> ById:
        path = self.params.path
        return ById(
            Rows(
                path,
                numbers,
                pa.array((line.id for line in lines), pa.string()),
                pa.array((msgspec.json.encode(line).decode() for line in lines), pa.string()),
            )
            for numbers, lines in Records(path, (Line,), _KEYS).with_lines()
        )


def placed(line: Line, passages: Sequence[str]) -> list[Cluster] | None:
    """The clusters of the line as mentions in these passages; None if the line's text or offsets do not
    fit."""
    starts = _starts("\n".join(passages) if line.text is None else line.text, passages)
    if starts is None:
        return None
    clusters_placed: list[Cluster] = []
    for spans in line.clusters:
        mentions: set[Mention] = set()
        for span in spans:
            if len(span) == 2:
                mention = _within(starts, passages, span[0], span[1])
                length = len(line.text) if line.text is not None else starts[-1] + len(passages[-1])
                if not 0 <= span[0] < span[1] <= length:
                    return None
            elif len(span) == 3 and _is_in(passages, span):
                mention = Mention(*span)
            else:
                return None
            if mention is not None:
                mentions.add(mention)
        if len(mentions) > 1:
            clusters_placed.append(tuple(sorted(mentions)))
    return clusters_placed


def _is_in(passages: Sequence[str], span: Sequence[int]) -> bool:
    passage, start, end = span
    return 0 <= passage < len(passages) and 0 <= start < end <= len(passages[passage])


def _starts(text: str, passages: Sequence[str]) -> list[int] | None:
    """The start of each passage in the text; None if the text is not these passages."""
    starts, at = [], 0
    for passage in passages:
        start = text.find(passage, at)
        if start < 0 or text[at:start].strip():
            return None
        starts.append(start)
        at = start + len(passage)
    return None if text[at:].strip() else starts


def _within(starts: Sequence[int], passages: Sequence[str], start: int, end: int) -> Mention | None:
    """The mention, if one passage contains all of these characters; otherwise None."""
    number = bisect_right(starts, start) - 1
    if number < 0 or end > starts[number] + len(passages[number]):
        return None
    return Mention(number, start - starts[number], end - starts[number])
