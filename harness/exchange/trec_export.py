"""Plain TREC files: a run a system, and the judgements of each dataset."""

from __future__ import annotations

import gzip
import shutil
import zlib
from pathlib import Path

from harness.collection import qrels_files
from harness.collection.queries import read_judgements
from harness.errors import HarnessError
from harness.exchange.written_files import Written, put, scored, target
from harness.leaderboard import cited_files
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.ids_only import JUDGEMENTS
from harness.leaderboard.model import Dataset, Row
from harness.store import disk
from harness.store.artifacts import Corrupt, Store


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """`DATASET/SYSTEM.run` and `DATASET/qrels`, as trec_eval reads them. Raises HarnessError for a run that
    is not the one that its row cites."""
    notes: list[str] = []
    paths = [path for row in scored(board, notes) if (path := _run(board, row, out, notes))]
    for dataset in board.data.datasets:
        path = _judgements(board, dataset, target(out, dataset.name, "qrels"), store, notes)
        paths += [path] if path else []
    return Written(tuple(paths), tuple(notes))


def _run(board: Leaderboard, row: Row, out: Path, notes: list[str]) -> Path | None:
    source = cited_files.intact(board, row, "run")
    if source is None:
        notes.append(f"{row.name}: its run is not here, and is left out")
        return None
    path = target(out, row.dataset, f"{row.system}.run")
    try:
        with gzip.open(source) as packed, disk.replacing(path) as beside, beside.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise HarnessError(f"{source}: {error}; run the suite again") from None
    return path


def _judgements(
    board: Leaderboard, dataset: Dataset, path: Path, store: Store, notes: list[str]
) -> Path | None:
    """Those that lie beside the leaderboard, or that the store still has."""
    for row in board.rows:
        if row.dataset == dataset.name:
            beside = cited_files.intact(board, row, JUDGEMENTS)
            if beside is not None:
                return put(path, beside.read_bytes())
    step = f"{JUDGEMENTS}-{dataset.digests.get(JUDGEMENTS)}"
    if not store.has(step):
        notes.append(f"{dataset.name}: the store has none of its judgements; run its suite again for them")
        return None
    try:
        judgements = read_judgements(store.read(step).folder)
    except Corrupt as error:
        notes.append(f"{dataset.name}: {error}; its judgements are left out")
        return None
    with disk.replacing(path) as new:
        qrels_files.write_qrels(new, judgements)
    return path
