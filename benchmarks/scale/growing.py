"""Measures on corpora of growing size, each in a process of its own, because a process keeps its peak."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Measured(NamedTuple):
    """What an index cost: the process's own memory in KB before and at its peak (mapped files do not count),
    and a digest of the index's arrays."""

    before: int
    peak: int
    seconds: float
    digest: str


def indexed(index: Callable[[Path], None], folder: Path) -> Measured:
    """Let `index` write an index to a new folder, and measure it."""
    folder.mkdir()
    before, peak, ended = own_memory(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            peak[0] = max(peak[0], own_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    index(folder)
    seconds = time.perf_counter() - began
    ended.set()
    thread.join()
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.npy")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return Measured(before, peak[0], seconds, digest.hexdigest())


def own_memory() -> int:
    """The memory of this process in KB, without mapped files."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])


def _rows(passages: int, columns: Columns) -> Iterator[pa.RecordBatch]:
    for start in range(0, passages, BATCH):
        numbers = range(start, min(start + BATCH, passages))
        values = columns(numbers)
        arrays = [pa.array(values.get(field.name, [None] * len(numbers)), field.type) for field in ROWS]
        yield pa.RecordBatch.from_arrays(arrays, schema=ROWS)
