"""The context-augmenter `coreference-rewritten`: it turns passages that another tool rewrote into edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from harness.plugin import JSON, Addition, Document, Edit, HarnessError, Passage
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import opened, refuse
from harness_coreference.kept import Kept, Row, absent, matched

if TYPE_CHECKING:
    from harness_coreference import RewrittenParams

_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
_TOKEN = re.compile(r"\s+|[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
_MOST = 4_000_000  # word pairs to compare at most; beyond, a text without mere insertions is replaced whole


class Line(msgspec.Struct, rename={"id": "_id"}, gc=False):
    id: str
    text: str


_KEYS = Keys(("_id", "text"), {"_id": ("str",), "text": ("str",)})


class Rewritten:
    """An augmenter that reads rewritten passages. `path` is a file of rows with the columns `_id` and `text`,
    or a folder of such files, as in DAPR's corpus_coref."""

    def __init__(self, params: RewrittenParams) -> None:
        self.params = params

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> Mapping[str, JSON]:
        return matched(
            self._kept, passages, "passage", self.params.path, self.params.missing, self.params.unknown
        )

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            yield Addition(edits=tuple(self._edits(passage) for passage in document.passages))

    def _edits(self, passage: Passage) -> tuple[Edit, ...]:
        row = self._kept.get(passage.id)
        if row is None:
            if self.params.missing == "refuse":
                raise absent(self.params.path, "passage", passage.id)
            return ()
        opcodes = difference(passage.text, row.value)
        if self.params.differs == "replace" or all(edit.start == edit.end for edit in opcodes):
            return opcodes
        if self.params.differs == "refuse":
            raise HarnessError(
                f"{row.file}:{row.line}: this is not the passage '{passage.id}' with insertions; "
                "take the file of this corpus, or choose differs: replace or differs: skip"
            )
        return ()

    @cached_property
    def _kept(self) -> Kept:
        return Kept(row for path in _files(self.params.path) for row in _rows(path))


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


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix != ".parquet":
        for number, line in Records(path, (Line,), _KEYS).numbered():
            yield Row(line.id, number, str(path), line.text)
        return
    number = 0
    with opened(path) as file:
        try:
            for batch in pq.ParquetFile(file).iter_batches(8192, columns=["_id", "text"]):
                columns = [batch.column(name).to_pylist() for name in ("_id", "text")]
                for id, text in zip(*columns, strict=True):
                    number += 1
                    if not isinstance(id, str) or not isinstance(text, str):
                        refuse(
                            path, number, "'_id' and 'text' must be texts in every row; copy the file again"
                        )
                    yield Row(id, number, str(path), text)
        except (pa.ArrowException, KeyError, OSError) as error:
            what = str(error).splitlines()[0]
            refuse(path, number + 1, f"it cannot be read as rows of `_id` and `text` ({what}); copy it again")
