"""Makes a corpus of a source's passages: streams them to disk, orders, ranks and counts them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from harness.collection import external_sort
from harness.collection.corpus_rows import ROWS, checked, groups, joined, rows_of
from harness.collection.corpus_stream import DOCUMENTS, PASSAGES, Locate, Progress, Streamed, stream
from harness.collection.record_batches import Blocks, streamed
from harness.collection.string_order import ascending, first_of_equals, ranks_of
from harness.contracts import ColumnarSource, Source
from harness.errors import refuse_all
from harness.types import JSON

ARRAYS = ("document_of", "first", "candidate", "id_rank", "document_rank")


def write(source: Source, folder: Path, progress: Progress) -> dict[str, JSON]:
    """Write the source's passages into `folder`, document by document, and return their counts. The bytes of
    the files depend on the contents alone. The texts are never in memory together. Raises HarnessError for a
    duplicate or empty id, for titles or places that disagree within a document, and for an empty corpus."""
    if isinstance(source, ColumnarSource):
        return write_rows(checked(source.rows()), source.locate, folder, progress)
    return write_rows(rows_of(source.documents()), _locate_passage, folder, progress)


def write_rows(
    batches: Iterator[pa.RecordBatch], locate: Locate, folder: Path, progress: Progress
) -> dict[str, JSON]:
    """Write passages given as batches of ROWS, as `write` does. `locate` names the place where a row came
    from, for messages."""
    folder.mkdir(parents=True, exist_ok=True)
    spool = folder / "unsorted"
    shutil.rmtree(spool, ignore_errors=True)
    rows = stream(batches, folder, locate, progress)
    id_rank = _id_ranks(rows.ids, locate)
    wanted = _wanted_order(rows)
    if wanted is not None:
        spool.mkdir()
        for path in sorted(folder.glob("*.arrow")):
            path.replace(spool / path.name)
        batches = _resorted(spool, rows, wanted)
        id_rank, locate = id_rank[wanted], _moved(locate, wanted)
        rows = stream(batches, folder, locate, progress)
        shutil.rmtree(spool)
    _check_places(rows, locate)
    first = np.append(np.flatnonzero(rows.starts), len(rows.starts)).astype(np.int64)
    arrays: dict[str, NDArray[Any]] = {
        "document_of": (np.cumsum(rows.starts) - 1).astype(np.int32),
        "first": first,
        "candidate": rows.candidate,
        "id_rank": id_rank,
        "document_rank": _document_ranks(rows, id_rank),
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


def _locate_passage(row: int) -> str:
    return f"passage {row + 1}"


def _moved(locate: Locate, came_from: NDArray[np.int64]) -> Locate:
    return lambda row: locate(int(came_from[row]))


def _resorted(spool: Path, rows: Streamed, wanted: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """The rows stored in `spool`, in the order `wanted`."""
    unsorted = _unsorted(spool, np.cumsum(rows.starts) - 1)
    start = 0
    for batch in external_sort.resorted(unsorted, spool, rows.size, wanted):
        which = wanted[start : start + batch.num_rows]
        places = [pa.array(rows.candidate[which]), pa.array(rows.order[which])]
        yield pa.RecordBatch.from_arrays([*batch.columns, *places], names=ROWS.names)
        start += batch.num_rows


def _unsorted(spool: Path, run_of: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    documents = Blocks(spool, DOCUMENTS)
    start = 0
    batches = (batch for group in groups(streamed(spool, PASSAGES)) for batch in joined(group))
    for batch in batches:
        runs = run_of[start : start + batch.num_rows]
        first = int(runs[0])
        heads = pa.Table.from_batches(documents.between(first, int(runs[-1]) + 1)).combine_chunks()
        owners, titles = (column.chunk(0).take(pa.array(runs - first)) for column in heads.columns)
        yield pa.RecordBatch.from_arrays(
            [batch.column("id"), owners, titles, batch.column("text")], names=ROWS.names[:4]
        )
        start += batch.num_rows


def _check_places(rows: Streamed, locate: Locate) -> None:
    """Checks the places of rows in their final order: within a document, places differ, and either all
    passages have a place or none has. Raises HarnessError."""
    before, here, inside = rows.order[:-1], rows.order[1:], ~rows.starts[1:]
    same = np.flatnonzero(inside & (before == here) & (here >= 0))
    mixed = np.flatnonzero(inside & ((before < 0) != (here < 0)))
    if len(same):
        texts = (
            f"{locate(row + 1)}: this passage has the place {int(here[row])} in its document, and so has "
            f"{locate(row)}; number the passages of a document differently"
            for row in same.tolist()
        )
        refuse_all(texts, len(same))
    if len(mixed):
        texts = (
            f"{locate(row + 1)}: of this passage and {locate(row)}, of the same document, only one has a "
            f"place in it; number all passages of a document or none"
            for row in mixed.tolist()
        )
        refuse_all(texts, len(mixed))


def _id_ranks(ids: pa.ChunkedArray, locate: Locate) -> NDArray[np.int32]:
    order, same = ascending(ids)
    if same.any():
        ties = np.flatnonzero(same)
        first, second = order[ties], order[ties + 1]  # equal ids are in the order in which they came
        texts = (
            f"{locate(int(second[tie]))}: the id '{ids[int(first[tie])].as_py()}' is already at "
            f"{locate(int(first[tie]))}; keep one of them"
            for tie in np.argsort(second, kind="stable").tolist()
        )
        refuse_all(texts, len(ties))
    return ranks_of(order)


def _document_ranks(rows: Streamed, id_rank: NDArray[np.int32]) -> NDArray[np.int32]:
    return id_rank if _each_alone(rows) else ranks_of(ascending(rows.owners)[0])


def _each_alone(rows: Streamed) -> bool:
    """Whether every passage is a document of its own, with the same id."""
    return bool(rows.ids.equals(rows.owners))


def _wanted_order(rows: Streamed) -> NDArray[np.int64] | None:
    """The row to stand at each place (int64[N]), with documents in the order of their first rows. None if the
    rows are in this order already."""
    if _each_alone(rows):
        return None
    by_id, same = ascending(rows.owners)
    inside = ~rows.starts[1:]
    descends = inside & (rows.order[1:] < rows.order[:-1]) & (rows.order[1:] >= 0)
    if not same.any() and not descends.any():
        return None
    document = first_of_equals(by_id, same)  # of each run: the first run of its document
    return np.lexsort((rows.order, document[np.cumsum(rows.starts) - 1]))
