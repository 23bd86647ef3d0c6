"""Measures on corpora of growing size, each in a process of its own, because a process keeps its peak."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from harness.collection.corpus_rows import ROWS, checked
from harness.collection.corpus_write import write_rows

BATCH = 8192
Columns = Callable[[range], Mapping[str, Sequence[str]]]  # the values of passages by the name of the column


def measured(
    description: str | None,
    header: Sequence[str],
    columns: Columns,
    measure: Callable[[Path, int], None],
    prepare: Callable[[Path, int], None] = lambda folder, passages: None,
) -> None:
    """Run the command of a script: for each number of passages, write a corpus of these columns, `prepare`
    its folder, and let `measure` print a line in a process of its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("passages", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, required=True, help="for the corpora, which are removed")
    parser.add_argument("--opened", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.opened:  # in a process of its own
        measure(options.folder, options.passages[0])
        return
    print(f"| {' | '.join(header)} |\n|{' --- |' * len(header)}", flush=True)
    for passages in options.passages:
        folder = options.folder / f"corpus-{passages}"
        write_rows(
            checked(_rows(passages, columns)), lambda row: f"row {row}", folder, lambda done, total: None
        )
        prepare(folder, passages)
        command = [sys.executable, sys.argv[0], str(passages), "--folder", str(folder), "--opened"]
        subprocess.run(command, check=True)
        shutil.rmtree(folder)


def _rows(passages: int, columns: Columns) -> Iterator[pa.RecordBatch]:
    for start in range(0, passages, BATCH):
        numbers = range(start, min(start + BATCH, passages))
        values = columns(numbers)
        arrays = [pa.array(values.get(field.name, [None] * len(numbers)), field.type) for field in ROWS]
        yield pa.RecordBatch.from_arrays(arrays, schema=ROWS)
