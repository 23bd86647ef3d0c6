"""The additions of a context stage, stored in shards of documents. The passages' text is not stored again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from harness.collection.corpus import Corpus
from harness.contracts import Augmenter, Matching
from harness.errors import ContractError, check_is, check_several, each
from harness.store import disk
from harness.types import JSON, Addition, Document, Edit, Ints, Passage

DOCUMENTS = 2048  # documents of a shard; a killed run repeats at most one shard
IDS = 65536  # ids that are read at once
COUNTS = b"counts"  # in the metadata of a shard's schema: the sums of what the augmenter counted
EDITS = pa.list_(pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("text", pa.string())])))
SCHEMA = pa.schema([("prefix", pa.string()), ("prefixes", pa.list_(pa.string())), ("edits", EDITS)])


class Changed(NamedTuple):
    """The numbers of documents and passages in a range of documents that something was added to, and the sums
    of what the augmenter counted."""

    documents: int
    passages: int
    counts: Mapping[str, int] = {}


def write(
    augmenter: Augmenter, corpus: Corpus, folder: Path, progress: Callable[[int, int | None], None]
) -> tuple[dict[str, JSON], int]:
    """Write the additions of an augmenter, shard by shard. Shards that a killed run finished are kept.
    Returns the facts, and the number of words (by white space) of the documents that this call augmented."""
    match_facts = match(augmenter, corpus)
    changed, words = write_shards(augmenter, corpus, folder, range(shards(corpus)), progress)
    return facts(corpus, [changed], match_facts), words


def match(augmenter: Augmenter, corpus: Corpus) -> dict[str, JSON]:
    """Let an augmenter that reads a file made for some corpus check that the file fits this corpus. Returns
    the facts that it gives, which are empty for all other augmenters."""
    return dict(augmenter.match(*_ids(corpus))) if isinstance(augmenter, Matching) else {}


def shards(corpus: Corpus) -> int:
    """The number of shards that the corpus has."""
    return -(-corpus.documents // DOCUMENTS)


def facts(corpus: Corpus, changed: Sequence[Changed], match_facts: Mapping[str, JSON]) -> dict[str, JSON]:
    return {
        "documents": corpus.documents,
        "documents_changed": sum(part.documents for part in changed),
        "passages": corpus.passages,
        "passages_changed": sum(part.passages for part in changed),
        **sum((Counter(part.counts) for part in changed), Counter()),
        **match_facts,
    }


def write_shards(
    augmenter: Augmenter, corpus: Corpus, folder: Path, numbers: range,
    progress: Callable[[int, int | None], None],
) -> tuple[Changed, int]:  # fmt: skip
    """Write the shards with these numbers. Shards that a killed run finished are kept. Returns the numbers of
    changed documents and passages, and the number of words of the documents that this call augmented."""
    documents_changed, passages_changed, words = 0, 0, 0
    sums: Counter[str] = Counter()
    for number in numbers:
        start, stop = number * DOCUMENTS, min((number + 1) * DOCUMENTS, corpus.documents)
        shard = _shard(folder, start)
        if not shard.exists():
            documents = list(corpus.documents_in(start, stop))
            words += sum(len(passage.text.split()) for item in documents for passage in item.passages)
            report = partial(_report, progress, start, corpus.documents)
            _write(shard, _checked(documents, augmenter.augment(documents), report))
        with pa.memory_map(str(shard)) as source:
            sums.update(json.loads((pa.ipc.open_file(source).schema.metadata or {}).get(COUNTS, "{}")))
        counts = np.diff(corpus.first[start : stop + 1]).tolist()
        for addition, passages in zip(Additions(folder).take(np.arange(start, stop)), counts, strict=True):
            changed = _changed(addition, passages)
            documents_changed += changed > 0
            passages_changed += changed
        progress(stop, corpus.documents)
    return Changed(documents_changed, passages_changed, sums), words


def _ids(corpus: Corpus) -> tuple[Iterator[str], Iterator[str]]:
    """The ids of all documents and the ids of all passages, streamed."""

    def some(size: int, ids: Callable[[Ints], list[str]]) -> Iterator[str]:
        for start in range(0, size, IDS):
            yield from ids(np.arange(start, min(start + IDS, size)))

    return some(corpus.documents, corpus.document_ids), some(corpus.passages, corpus.ids)


class Additions:
    """The stored additions of one stage, memory-mapped shard by shard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shards: dict[int, pa.RecordBatch] = {}

    def take(self, documents: Ints) -> list[Addition]:
        """The addition of each document in `documents`, in their order. A document that is repeated in
        succession is read once."""
        additions: list[Addition] = []
        last, addition = -1, Addition()
        for document in documents.tolist():
            if document != last:
                last, addition = document, self._one(document)
            additions.append(addition)
        return additions

    def _one(self, document: int) -> Addition:
        start = document // DOCUMENTS * DOCUMENTS
        if start not in self._shards:
            with pa.memory_map(str(_shard(self.folder, start))) as source:
                self._shards[start] = pa.ipc.open_file(source).get_batch(0)
        batch, i = self._shards[start], document - start
        edits = batch.column(2)[i].as_py()
        return Addition(
            batch.column(0)[i].as_py(),
            tuple(batch.column(1)[i].as_py()),
            tuple(tuple(Edit(**edit) for edit in passage) for passage in edits),
        )


def _shard(folder: Path, start: int) -> Path:
    return folder / f"documents-{start:012d}.arrow"


def _write(shard: Path, additions: list[Addition]) -> None:
    edits = [[[edit._asdict() for edit in passage] for passage in item.edits] for item in additions]
    columns = [
        pa.array([item.prefix for item in additions], pa.string()),
        pa.array([list(item.prefixes) for item in additions], pa.list_(pa.string())),
        pa.array(edits, EDITS),
    ]
    counts = sum((Counter(item.counts) for item in additions), Counter())
    schema = SCHEMA.with_metadata({COUNTS: json.dumps(counts)} if counts else None)
    beside = shard.with_suffix(".new")
    with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    with beside.open("rb") as file:  # a rerun trusts a file of this name, even after the machine stopped
        disk.fsync(file.fileno())
    disk.rename(beside, shard)


def _report(progress: Callable[[int, int | None], None], start: int, total: int, done: int) -> None:
    progress(start + done, total)


def _checked(
    documents: list[Document], additions: Iterable[Addition], report: Callable[[int], None] | None = None
) -> list[Addition]:
    checked: list[Addition] = []
    for addition in each(additions, Addition, "the additions of a context-augmenter"):
        checked.append(addition)
        if report is not None:
            report(len(checked))
    if len(checked) != len(documents):
        raise ContractError(f"{len(checked)} additions for {len(documents)} documents; one each is expected")
    for document, addition in zip(documents, checked, strict=True):
        check_is(addition.prefix, str, "the prefixes of a context-augmenter")
        count = len(document.passages)
        for name, parts in (("prefixes", addition.prefixes), ("edits", addition.edits)):
            check_several(parts, f"the {name} of an addition")
            if len(parts) not in (0, count):
                text = f"{len(parts)} {name} for the {count} passages of document '{document.id}'"
                raise ContractError(f"{text}; none or one each is expected")
        for prefix in addition.prefixes:
            check_is(prefix, str, "the prefixes of a context-augmenter")
        for edits in addition.edits:
            check_several(edits, "the edits of a passage")
        for passage, edits in zip(document.passages, addition.edits, strict=False):
            _check_edits(passage, edits)
    return checked


def _check_edits(passage: Passage, edits: Sequence[Edit]) -> None:
    """Raises ContractError if an edit reaches beyond the passage's text or overlaps another edit."""
    for edit in edits:
        check_is(edit, Edit, "the edits of a context-augmenter")
        check_is(edit.text, str, "the texts of edits")
        check_is(edit.start, int, "the starts of edits")
        check_is(edit.end, int, "the ends of edits")
        if not 0 <= edit.start <= edit.end <= len(passage.text):
            what = f"an edit of characters {edit.start} to {edit.end} in passage '{passage.id}'"
            raise ContractError(f"{what}, which has {len(passage.text)}")
    in_order = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for before, after in pairwise(in_order):
        if after.start < before.end:
            spans = f"{before.start} to {before.end} and {after.start} to {after.end}"
            raise ContractError(f"edits of passage '{passage.id}' overlap: characters {spans}")


def _changed(addition: Addition, passages: int) -> int:
    """The number of a document's passages that the addition changes."""
    if addition.prefix:
        return passages
    prefixes = addition.prefixes or ("",) * passages
    edits = addition.edits or ((),) * passages
    return sum(bool(prefix or edit) for prefix, edit in zip(prefixes, edits, strict=True))
