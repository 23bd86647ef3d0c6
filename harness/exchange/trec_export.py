"""Plain TREC files: a run a system, and the judgements of each dataset."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from harness.collection import qrels_files
from harness.collection.queries import read_judgements
from harness.errors import HarnessError
from harness.exchange.ids_only import JUDGEMENTS
from harness.exchange.written_files import Written, name, put, scored
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.store import disk
from harness.store.artifacts import Corrupt, Store
from harness.types import JSON


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """`DATASET/SYSTEM.run` and `DATASET/qrels`, as trec_eval reads them. Raises HarnessError for a run that
    is not the one that its row cites."""
    notes: list[str] = []
    paths = [path for row in scored(board, notes) if (path := _run(board, row, out, notes))]
    for block in board.data["datasets"]:
        path = _judgements(board, block, out / block["name"] / "qrels", store, notes)
        paths += [path] if path else []
    return Written(tuple(paths), tuple(notes))


def _run(board: Leaderboard, row: JSON, out: Path, notes: list[str]) -> Path | None:
    source = per_query.cited(board, row, "run")
    if source is None:
        notes.append(f"{name(row)}: its run is not here, and is left out")
        return None
    target: Path = out / row["dataset"] / f"{row['system']}.run"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with gzip.open(source) as packed, disk.replacing(target) as beside, beside.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    except (EOFError, gzip.BadGzipFile) as error:
        raise HarnessError(f"{source}: {error}; run the suite again") from None
    return target


def _judgements(board: Leaderboard, block: JSON, target: Path, store: Store, notes: list[str]) -> Path | None:
    """Those that lie beside the leaderboard, or that the store still has."""
    for row in board.rows:
        if row["dataset"] == block["name"] and row["files"].get(JUDGEMENTS):
            beside = per_query.cited(board, row, JUDGEMENTS)
            if beside is not None:
                return put(target, beside.read_bytes())
    step = f"{JUDGEMENTS}-{block['digests'].get(JUDGEMENTS)}"
    if not store.has(step):
        notes.append(f"{block['name']}: the store has none of its judgements; run its suite again for them")
        return None
    try:
        found = read_judgements(store.read(step).folder)
    except Corrupt as error:
        notes.append(f"{block['name']}: {error}; its judgements are left out")
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    with disk.replacing(target) as new:
        qrels_files.write_qrels(new, found)
    return target
