"""The context-augmenter `coreference-rewritten`: it turns passages that another tool rewrote into edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from harness.plugin import JSON, Addition, Document, Edit, HarnessError, Passage
from harness.toolkit.files.by_id import ById, missing_row, of_tables
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.tables import Column

if TYPE_CHECKING:
    from harness_coreference import RewrittenParams

_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
_TOKEN = re.compile(r"\s+|[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
_MOST = 4_000_000  # word pairs to compare at most; beyond, a text without mere insertions is replaced whole


_ID, _TEXT = Column("_id", pa.string()), Column("text", pa.string(), prose=True)


class Rewritten:
    """An augmenter that reads rewritten passages. `path` is a file of rows with the columns `_id` and `text`,
    or a folder of such files, as in DAPR's corpus_coref."""

    def __init__(self, params: RewrittenParams) -> None:
        self.params = params

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> Mapping[str, JSON]:
        params = self.params
        return self._rows.match(passages, "passage", params.path, params.missing, params.unknown)

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            yield Addition(edits=tuple(self._edits(passage) for passage in document.passages))

    def _edits(self, passage: Passage) -> tuple[Edit, ...]:
        [text] = self._rows.texts_of([passage.id])
        if text is None:
            if self.params.missing == "refuse":
                raise missing_row(self.params.path, "passage", passage.id)
            return ()
        opcodes = difference(passage.text, text)
        if self.params.differs == "replace" or all(edit.start == edit.end for edit in opcodes):
            return opcodes
        if self.params.differs == "refuse":
            refuse(
                *self._rows.place(passage.id),
                f"this is not the passage '{passage.id}' with insertions; "
                "take the file of this corpus, or choose differs: replace or differs: skip",
            )
        return ()

    @cached_property
    def _rows(self) -> ById:
        return ById(of_tables(_files(self.params.path), _ID, _TEXT), "passage")


def difference(text: str, rewritten: str) -> tuple[Edit, ...]:
    """Word-by-word edits that turn `text` into `rewritten`: only insertions, if insertions are enough."""
    if text == rewritten:
        return ()
    old, new = _TOKEN.findall(text), _TOKEN.findall(rewritten)
    if "".join(old) != text or "".join(new) != rewritten or len(old) * len(new) > _MOST:
        return _inserted(old, new) or (Edit(0, len(text), rewritten),)
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    if any(kind in ("replace", "delete") for kind, *_ in opcodes):
        inserted = _inserted(old, new)
        if inserted:
            return inserted
    starts = _offsets(old)
    return tuple(
        Edit(starts[a], starts[b], "".join(new[c:d])) for kind, a, b, c, d in opcodes if kind != "equal"
    )


def _inserted(old: Sequence[str], new: Sequence[str]) -> tuple[Edit, ...]:
    """The insertions that turn `old` into `new`, with each word matched as early as possible; empty if
    insertions are not enough."""
    starts = _offsets(old)
    at, waiting = 0, ""
    edits: list[Edit] = []
    for token in new:
        if at < len(old) and token == old[at]:
            if waiting:
                edits.append(Edit(starts[at], starts[at], waiting))
                waiting = ""
            at += 1
        else:
            waiting += token
    if waiting:
        edits.append(Edit(starts[-1], starts[-1], waiting))
    return tuple(edits) if at == len(old) else ()


def _offsets(tokens: Sequence[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.name.endswith(_ENDINGS))
    if not files:
        raise HarnessError(
            f"{path}: there is no file of rows in it; name one that ends in .parquet or .jsonl"
        )
    return files
