"""Puts rows into a given order with bounded memory: spreads them over files, then sorts each file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

BUCKET_BYTES = 16 << 20  # bytes of text in one bucket, which is held in memory
MOST_BUCKETS = 256  # each bucket is an open file


def resorted(
    batches: Iterable[pa.RecordBatch], folder: Path, size: NDArray[np.int64], wanted: NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    """The rows of `batches`, ordered so that row `wanted[i]` stands at place i. `wanted` is a permutation;
    `size` (int64[N]) is each row's bytes. `folder` holds intermediate files, deleted when read."""
    place = np.empty(len(wanted), dtype=np.int64)
    place[wanted] = np.arange(len(wanted))
    filled = np.cumsum(size[wanted])  # bytes up to each place
    bytes_each = max(BUCKET_BYTES, int(filled[-1]) // (MOST_BUCKETS - 1) + 1)
    bucket_of = (filled // bytes_each)[place]  # the bucket of each incoming row
    for path in _spread(batches, folder, place, bucket_of):
        yield from _sorted(path)
        path.unlink()


def _spread(
    batches: Iterable[pa.RecordBatch], folder: Path, place: NDArray[np.int64], bucket_of: NDArray[np.int64]
) -> list[Path]:
    """Append every row, with its place, to the file of its bucket. Returns the files in order of place."""
    paths: dict[int, Path] = {}
    writers: dict[int, pa.RecordBatchWriter] = {}
    done = 0
    with ExitStack() as opened:
        for batch in batches:
            rows = slice(done, done + batch.num_rows)
            done += batch.num_rows
            batch = batch.append_column("place", pa.array(place[rows]))
            order = np.argsort(bucket_of[rows], kind="stable")
            ordered, buckets = batch.take(pa.array(order)), bucket_of[rows][order]
            edges = [0, *(np.flatnonzero(np.diff(buckets)) + 1).tolist(), batch.num_rows]
            for start, stop in pairwise(edges):
                bucket = int(buckets[start])
                if bucket not in writers:
                    paths[bucket] = folder / f"bucket-{bucket:04}.arrow"
                    file = opened.enter_context(pa.OSFile(str(paths[bucket]), "wb"))
                    writers[bucket] = opened.enter_context(pa.ipc.new_stream(file, batch.schema))
                writers[bucket].write_batch(ordered.slice(start, stop - start))
    return [paths[bucket] for bucket in sorted(paths)]


def _sorted(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as stream:
        table = stream.read_all().combine_chunks()
    if table.num_rows:
        table = table.take(pc.sort_indices(table.column("place"))).drop_columns("place")
        yield from table.combine_chunks().to_batches()
