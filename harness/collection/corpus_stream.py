"""Writes rows to disk as they come, with the checks that need only a row and the row before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.collection.background import behind
from harness.collection.corpus_rows import groups, joined
from harness.collection.record_batches import Writer
from harness.collection.string_order import like_next
from harness.errors import HarnessError, refuse_all

Locate: TypeAlias = Callable[[int], str]  # a row -> where it came from
Progress: TypeAlias = Callable[[int, int | None], None]
PASSAGES, DOCUMENTS = "passages", "documents"
_PASSAGE = pa.schema([("id", pa.string()), ("text", pa.large_string())])
_DOCUMENT = pa.schema([("id", pa.string()), ("title", pa.large_string())])
WHITE_SPACE = (  # the characters at which `str.split` splits
    r"[\x09-\x0d\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)


class Streamed(NamedTuple):
    """The data of N written rows that is kept in memory, in the order of the rows."""

    ids: pa.ChunkedArray  # string[N]
    owners: pa.ChunkedArray  # string[runs]: the document of each run
    starts: NDArray[np.bool_]  # bool[N]: the row begins a run of rows of one document
    order: NDArray[np.int32]  # int32[N]: place in the document; -1: the order of the rows
    candidate: NDArray[np.bool_]  # bool[N]
    size: NDArray[np.int64]  # int64[N]: bytes of text
    characters: int
    empty: int  # the number of texts of nothing but white space
    titled: int  # the number of runs with a title


def stream(batches: Iterable[pa.RecordBatch], folder: Path, locate: Locate, progress: Progress) -> Streamed:
    """Write rows as they come, and one row of documents for each run of rows of the same document. The
    iterator `batches` runs in this thread; checking and writing run in a background thread."""
    with (
        Writer(folder, PASSAGES, _PASSAGE) as passages,
        Writer(folder, DOCUMENTS, _DOCUMENT) as documents,
        behind() as later,
    ):
        taken = _Taken(passages, documents, locate)
        done = 0
        for group in groups(batches):
            later(taken.take, group)
            done += sum(batch.num_rows for batch in group)
            progress(done, None)
    if not done:
        raise HarnessError("corpus: it holds no passage; check the files that it is read from")
    return taken.streamed()


class _Taken:
    """The rows that were written so far, with the last row, which the next row is compared with."""

    def __init__(self, passages: Writer, documents: Writer, locate: Locate) -> None:
        self._passages, self._documents, self._locate = passages, documents, locate
        self._last: tuple[str, str] | None = None  # document and title of the last row
        self._columns: list[tuple[pa.Array, pa.Array]] = []  # ids, documents of runs
        self._arrays: list[tuple[NDArray[Any], ...]] = []  # starts, order, candidate, size
        self._rows = self._characters = self._empty = self._titled = 0

    def take(self, group: list[pa.RecordBatch]) -> None:
        for batch in joined(group):
            self._take(batch)

    def _take(self, batch: pa.RecordBatch) -> None:
        ids, texts = batch.column("id"), batch.column("text").cast(pa.large_string())
        _check_ids(ids, self._rows, self._locate)
        owners, titles = _documents(batch)
        starts = _starts(owners, self._last)
        _check_titles(owners, titles, starts, self._last, self._rows, self._locate)
        heads = [owners, titles]
        if not starts.all():
            heads = [column.filter(pa.array(starts)) for column in heads]
        self._passages.write(pa.RecordBatch.from_arrays([ids, texts], schema=_PASSAGE))
        self._documents.write(pa.RecordBatch.from_arrays(heads, schema=_DOCUMENT))
        self._last = owners[-1].as_py(), titles[-1].as_py()
        order = pc.fill_null(batch.column("order"), -1).to_numpy()
        candidate = pc.fill_null(batch.column("candidate"), True).to_numpy(zero_copy_only=False)
        self._columns.append((ids, heads[0]))
        self._arrays.append((starts, order, candidate, pc.binary_length(texts).to_numpy()))
        characters, empty = _measure(texts)
        self._rows += batch.num_rows
        self._characters += characters
        self._empty += empty
        self._titled += _total(pc.greater(pc.binary_length(heads[1]), 0))

    def streamed(self) -> Streamed:
        ids, owners = (pa.chunked_array(parts) for parts in zip(*self._columns, strict=True))
        starts, order, candidate, size = (np.concatenate(parts) for parts in zip(*self._arrays, strict=True))
        counts = self._characters, self._empty, self._titled
        return Streamed(ids, owners, starts, order, candidate, size, *counts)


def _measure(texts: pa.Array) -> tuple[int, int]:
    """The number of characters in all texts, and the number of texts that are nothing but white space."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(texts.buffers()[2] or b"", dtype=np.int8)
    continued = np.count_nonzero(data[offsets[0] : offsets[-1]] < -64)  # bytes within a character
    sizes = np.diff(offsets)
    heads = data[offsets[:-1][sizes > 0]]
    empty = len(sizes) - len(heads)
    # texts that begin with white space or a byte that is not ASCII (negative here); most texts do not
    blank = heads <= ord(" ")
    if blank.any():
        empty += _total(pc.utf8_is_space(texts.filter(pa.array(sizes > 0)).filter(pa.array(blank))))
    return int(offsets[-1] - offsets[0] - continued), empty


def _total(values: pa.Array) -> int:
    return int(pc.sum(values).as_py() or 0)


def _documents(batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
    """The document id and the title of each row, without nulls."""
    ids, owners = batch.column("id"), batch.column("document")
    titles = pc.fill_null(batch.column("title"), "").cast(pa.large_string())
    if owners.null_count == len(owners):
        return ids, titles
    without_document = pc.fill_null(pc.equal(owners, ""), True)
    return pc.if_else(without_document, ids, owners), titles


def _starts(owners: pa.Array, last: tuple[str, str] | None) -> NDArray[np.bool_]:
    starts = np.empty(len(owners), dtype=np.bool_)
    starts[0] = last is None or owners[0].as_py() != last[0]
    starts[1:] = ~like_next(owners)
    return starts


def _check_ids(ids: pa.Array, done: int, locate: Locate) -> None:
    wrong = pc.fill_null(pc.or_(pc.equal(ids, ""), pc.match_substring_regex(ids, WHITE_SPACE)), True)
    rows = np.flatnonzero(wrong.to_numpy(zero_copy_only=False))
    if len(rows):
        named = ((row, ids[row].as_py()) for row in rows.tolist())
        texts = (
            f"{locate(done + row)}: the passage id "
            + (f"{id!r} has white space in it; no TREC run can hold it" if id else "is empty")
            + "; give every passage another one"
            for row, id in named
        )
        refuse_all(texts, len(rows))


def _check_titles(
    owners: pa.Array,
    titles: pa.Array,
    starts: NDArray[np.bool_],
    last: tuple[str, str] | None,
    done: int,
    locate: Locate,
) -> None:
    if starts.all():
        return
    changes = np.empty(len(titles), dtype=np.bool_)
    changes[0] = last is not None and titles[0].as_py() != last[1]
    changes[1:] = ~like_next(titles)
    wrong = np.flatnonzero(changes & ~starts)
    if len(wrong):
        texts = (
            f"{locate(done + row)}: document '{owners[row].as_py()}' has another title here than at "
            f"{locate(done + row - 1)}; give all passages of a document the same title"
            for row in wrong.tolist()
        )
        refuse_all(texts, len(wrong))
