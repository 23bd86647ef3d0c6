"""Streams a source into the columns of a corpus, checking what must hold of every collection."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from harness import external_sort
from harness.behind import behind
from harness.blocks import Blocks, Writer
from harness.byte_order import ascending, first_of_equals, like_next, ranks_of
from harness.contracts import ColumnarSource, Source
from harness.errors import ContractError, HarnessError
from harness.types import JSON, Document

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Locate = Callable[[int], str]
    Progress = Callable[[int, int | None], None]

ROWS = pa.schema(  # what a ColumnarSource yields
    [
        ("id", pa.string()),
        ("document", pa.string()),  # null or "": the passage is a document of its own
        ("title", pa.string()),  # the document's; null is ""
        ("text", pa.string()),
        ("candidate", pa.bool_()),  # null is true
        ("order", pa.int32()),  # place in the document; null or -1: as the rows come
    ]
)
PASSAGES, DOCUMENTS = "passages", "documents"
ARRAYS = ("document_of", "first", "candidate", "id_rank", "document_rank")
_PASSAGE = pa.schema([("id", pa.string()), ("text", pa.large_string())])
_DOCUMENT = pa.schema([("id", pa.string()), ("title", pa.large_string())])
_BATCH_ROWS, _BATCH_CHARACTERS = 8192, 1 << 22
_GATHER_ROWS, _GATHER_BYTES = 1 << 16, 1 << 24


class _Rows(NamedTuple):
    """What is kept in memory of N rows that were written, in their order."""

    starts: NDArray[np.bool_]  # bool[N]: the row begins a run of rows of one document
    order: NDArray[np.int32]  # int32[N]: place in the document, -1 as it comes
    candidate: NDArray[np.bool_]  # bool[N]
    size: NDArray[np.int64]  # int64[N]: bytes of text
    characters: int
    empty: int  # texts of nothing but white space
    titled: int  # runs with a title


def write(source: Source, folder: Path, progress: Progress) -> dict[str, JSON]:
    """Write the source's passages into `folder`, document by document, and return what was counted. The
    bytes depend on the contents alone, and the texts are never in memory together. Raises HarnessError
    for a duplicate or empty id, titles or places that disagree within a document, and an empty corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    spool = folder / "unsorted"
    shutil.rmtree(spool, ignore_errors=True)
    locate: Locate = _locate_passage
    if isinstance(source, ColumnarSource):
        batches, locate = _checked(source.rows()), source.locate
    else:
        batches = rows_of(source.documents())
    rows = _stream(batches, folder, locate, progress)
    id_rank = _id_ranks(Blocks(folder, PASSAGES), locate)
    wanted = _wanted_order(rows, folder)
    if wanted is not None:
        spool.mkdir()
        for path in sorted(folder.glob("*.arrow")):
            path.replace(spool / path.name)
        batches = _resorted(spool, rows, wanted)
        id_rank, locate = id_rank[wanted], _moved(locate, wanted)
        rows = _stream(batches, folder, locate, progress)
        shutil.rmtree(spool)
    _check_places(rows, locate)
    first = np.append(np.flatnonzero(rows.starts), len(rows.starts)).astype(np.int64)
    arrays: dict[str, NDArray[Any]] = {
        "document_of": (np.cumsum(rows.starts) - 1).astype(np.int32),
        "first": first,
        "candidate": rows.candidate,
        "id_rank": id_rank,
        "document_rank": _document_ranks(folder, id_rank),
    }
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", arrays[name], allow_pickle=False)
    return {
        "passages": len(rows.starts),
        "documents": len(first) - 1,
        "candidates": int(rows.candidate.sum()),
        "empty_passages": rows.empty,
        "titled_documents": rows.titled,
        "characters": rows.characters,
    }


def rows_of(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Documents as batches of ROWS. A document has passages: there is nowhere to keep one without."""
    rows: list[tuple[str, str, str, str, bool, int]] = []
    characters = 0
    for id, title, passages in documents:
        if not id or not passages:
            raise ContractError(f"document '{id}' needs an id and at least one passage")
        for place, (passage, text, candidate) in enumerate(passages):
            rows.append((passage, id, title, text, candidate, place))
            characters += len(text)
        if len(rows) >= _BATCH_ROWS or characters >= _BATCH_CHARACTERS:
            yield _batch(rows)
            rows, characters = [], 0
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[str, str, str, str, bool, int]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, ROWS, strict=True)], schema=ROWS
    )


def _checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not batch.schema.equals(ROWS):
            raise ContractError("rows() must yield batches of the schema harness.corpus.ROWS")
        if batch.column("text").null_count:
            raise ContractError("rows() must yield no text that is null")
        yield batch


def _locate_passage(row: int) -> str:
    return f"passage {row + 1}"


def _moved(locate: Locate, came_from: NDArray[np.int64]) -> Locate:
    return lambda row: locate(int(came_from[row]))


def _resorted(spool: Path, rows: _Rows, wanted: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """The rows that lie in `spool`, in the wanted order."""
    unsorted = _unsorted(spool, np.cumsum(rows.starts) - 1)
    start = 0
    for batch in external_sort.resorted(unsorted, spool, rows.size, wanted):
        which = wanted[start : start + batch.num_rows]
        places = [pa.array(rows.candidate[which]), pa.array(rows.order[which])]
        yield pa.RecordBatch.from_arrays([*batch.columns, *places], names=ROWS.names)
        start += batch.num_rows


def _unsorted(spool: Path, run_of: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    passages, documents = Blocks(spool, PASSAGES), Blocks(spool, DOCUMENTS)
    start = 0
    for batch in passages.between(0, passages.rows):
        runs = run_of[start : start + batch.num_rows]
        first = int(runs[0])
        heads = pa.Table.from_batches(documents.between(first, int(runs[-1]) + 1)).combine_chunks()
        owners, titles = (column.chunk(0).take(pa.array(runs - first)) for column in heads.columns)
        yield pa.RecordBatch.from_arrays(
            [batch.column("id"), owners, titles, batch.column("text")], names=ROWS.names[:4]
        )
        start += batch.num_rows


def _stream(batches: Iterable[pa.RecordBatch], folder: Path, locate: Locate, progress: Progress) -> _Rows:
    """Write rows as they come, and one line of documents for each run of rows of the same document."""
    kept: list[tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]]] = []
    counts: list[Future[tuple[int, int]]] = []
    done = titled = 0
    last: tuple[str, str] | None = None  # document and title of the row before the batch
    with (
        Writer(folder, PASSAGES, _PASSAGE) as passages,
        Writer(folder, DOCUMENTS, _DOCUMENT) as documents,
        behind() as later,
    ):
        for batch in _gathered(batches):
            ids, texts = batch.column("id"), batch.column("text").cast(pa.large_string())
            _check_ids(ids, done, locate)
            owners, titles = _documents(batch)
            starts = _starts(owners, last)
            _check_titles(owners, titles, starts, last, done, locate)
            heads = [owners, titles]
            if not starts.all():
                heads = [column.filter(pa.array(starts)) for column in heads]
            last = owners[-1].as_py(), titles[-1].as_py()
            order = pc.fill_null(batch.column("order"), -1).to_numpy()
            candidate = pc.fill_null(batch.column("candidate"), True).to_numpy(zero_copy_only=False)
            kept.append((starts, order, candidate, pc.binary_length(texts).to_numpy()))
            titled += _total(pc.greater(pc.binary_length(heads[1]), 0))
            later(passages.write, pa.RecordBatch.from_arrays([ids, texts], schema=_PASSAGE))
            later(documents.write, pa.RecordBatch.from_arrays(heads, schema=_DOCUMENT))
            counts.append(later(_measure, texts))
            done += batch.num_rows
            progress(done, None)
    if not done:
        raise HarnessError("corpus: it holds no passage; check the files that it is read from")
    starts, order, candidate, size = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    characters, empty = (sum(parts) for parts in zip(*(count.result() for count in counts), strict=True))
    return _Rows(starts, order, candidate, size, characters, empty, titled)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that are large enough for work on columns to pay."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _GATHER_ROWS or size >= _GATHER_BYTES:
            yield from _combined(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield from _combined(waiting)


def _combined(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) == 1:
        return batches if batches[0].num_rows else []
    return list(pa.Table.from_batches(batches).combine_chunks().to_batches())


def _measure(texts: pa.Array) -> tuple[int, int]:
    """Characters in all, and how many texts are nothing but white space."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(texts.buffers()[2] or b"", dtype=np.int8)
    continued = np.count_nonzero(data[offsets[0] : offsets[-1]] < -64)  # bytes within a character
    sizes = np.diff(offsets)
    heads = data[offsets[:-1][sizes > 0]]
    # no white space begins with a letter or digit: most texts are not looked at
    maybe = texts.filter(pa.array(sizes > 0)).filter(pa.array((heads < 0) | (heads <= 32)))
    empty = int((sizes == 0).sum()) + _total(pc.utf8_is_space(maybe))
    return int(offsets[-1] - offsets[0] - continued), empty


def _total(values: pa.Array) -> int:
    return int(pc.sum(values).as_py() or 0)


def _documents(batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
    """The document id and the title of each row, without nulls."""
    ids, owners = batch.column("id"), batch.column("document")
    titles = pc.fill_null(batch.column("title"), "").cast(pa.large_string())
    if owners.null_count == len(owners):
        return ids, titles
    own = pc.fill_null(pc.equal(owners, ""), True)
    return pc.if_else(own, ids, owners), titles


def _starts(owners: pa.Array, last: tuple[str, str] | None) -> NDArray[np.bool_]:
    starts = np.empty(len(owners), dtype=np.bool_)
    starts[0] = last is None or owners[0].as_py() != last[0]
    starts[1:] = ~like_next(owners)
    return starts


def _check_ids(ids: pa.Array, done: int, locate: Locate) -> None:
    absent = np.flatnonzero(pc.fill_null(pc.binary_length(ids), 0).to_numpy() == 0)
    if len(absent):
        raise HarnessError(
            f"{locate(done + int(absent[0]))}: the passage id is empty; give every passage one"
        )


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
        row = int(wrong[0])
        raise HarnessError(
            f"{locate(done + row)}: document '{owners[row].as_py()}' has another title here than at "
            f"{locate(done + row - 1)}; give all passages of a document the same title"
        )


def _check_places(rows: _Rows, locate: Locate) -> None:
    """Rows are in their final order: no two of a document have one place, and all have one or none has."""
    before, here, inside = rows.order[:-1], rows.order[1:], ~rows.starts[1:]
    same = np.flatnonzero(inside & (before == here) & (here >= 0))
    mixed = np.flatnonzero(inside & ((before < 0) != (here < 0)))
    if len(same):
        row = int(same[0])
        raise HarnessError(
            f"{locate(row + 1)}: this passage has the place {int(here[row])} in its document, and so has "
            f"{locate(row)}; number the passages of a document differently"
        )
    if len(mixed):
        row = int(mixed[0])
        raise HarnessError(
            f"{locate(row + 1)}: of this passage and {locate(row)}, of the same document, only one has a "
            f"place in it; number all passages of a document or none"
        )


def _id_ranks(passages: Blocks, locate: Locate) -> NDArray[np.int32]:
    order, same = ascending(passages.column("id"))
    if same.any():
        ties = np.flatnonzero(same)
        first, second = order[ties], order[ties + 1]  # equal ids stand as they came
        tie = int(np.argmin(second))
        id = passages.strings("id", first[tie : tie + 1])[0]
        raise HarnessError(
            f"{locate(int(second[tie]))}: the id '{id}' is already at {locate(int(first[tie]))}; "
            f"keep one of them"
        )
    return ranks_of(order)


def _document_ranks(folder: Path, id_rank: NDArray[np.int32]) -> NDArray[np.int32]:
    if _each_alone(folder):
        return id_rank
    return ranks_of(ascending(Blocks(folder, DOCUMENTS).column("id"))[0])


def _each_alone(folder: Path) -> bool:
    """Whether every passage is a document of its own id."""
    passages, documents = Blocks(folder, PASSAGES), Blocks(folder, DOCUMENTS)
    return bool(passages.column("id").equals(documents.column("id")))


def _wanted_order(rows: _Rows, folder: Path) -> NDArray[np.int64] | None:
    """int64[N]: the row to stand at each place, documents in order of their first row; None: as it is."""
    if _each_alone(folder):
        return None
    by_id, same = ascending(Blocks(folder, DOCUMENTS).column("id"))
    inside = ~rows.starts[1:]
    descends = inside & (rows.order[1:] < rows.order[:-1]) & (rows.order[1:] >= 0)
    if not same.any() and not descends.any():
        return None
    document = first_of_equals(by_id, same)  # of each run, as the run where it was first seen
    return np.lexsort((rows.order, document[np.cumsum(rows.starts) - 1]))
