"""Plain TREC files: one run for each system, and the judgements of each dataset."""

from __future__ import annotations

import gzip
import shutil
import zlib
from pathlib import Path

import numpy as np

from harness.plugin import HarnessError, Judged
from harness.toolkit.boards import Dataset, Leaderboard, Row
from harness.toolkit.boards.exchange import intact
from harness.toolkit.boards.stored import (
    JUDGEMENTS,
    Corpus,
    Corrupt,
    Judgements,
    Store,
    of_documents,
    read_judgements,
    write_qrels,
)
from harness.toolkit.files import writing
from harness_forms.written_files import Written, put, scored, target


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes `DATASET/SYSTEM.run` and `DATASET/qrels`, as trec_eval reads them, and `DATASET/qrels-documents`
    if runs rank documents. Raises HarnessError for a run that is not the one that its row cites."""
    notes: list[str] = []
    paths = [path for row in scored(board, notes) if (path := _run(board, row, out, notes))]
    for dataset in board.data.datasets:
        path = _judgements(board, dataset, target(out, dataset.name, "qrels"), store, notes)
        paths += [path] if path else []
        if any(row.unit == "document" for row in board.rows_of(dataset.name)):
            path = _of_documents(dataset, target(out, dataset.name, "qrels-documents"), store, notes)
            paths += [path] if path else []
    return Written(tuple(paths), tuple(notes))


def _run(board: Leaderboard, row: Row, out: Path, notes: list[str]) -> Path | None:
    source = intact(board, row, "run")
    if source is None:
        notes.append(f"{row.name}: its run is not here, and is left out")
        return None
    path = target(out, row.dataset, f"{row.system}.run")
    try:
        with gzip.open(source) as packed, writing.replacing(path) as beside, beside.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise HarnessError(f"{source}: {error}; run the suite again") from None
    return path


def _judgements(
    board: Leaderboard, dataset: Dataset, path: Path, store: Store, notes: list[str]
) -> Path | None:
    """Writes the judgements that are kept beside the leaderboard, or those in the store. Returns the path, or
    None with a note if neither has them."""
    for row in board.rows:
        if row.dataset == dataset.name:
            beside = intact(board, row, JUDGEMENTS)
            if beside is not None:
                return put(path, beside.read_bytes())
    step = store.part("judgements", dataset.digests.get("judgements", ""))
    if step is None:
        notes.append(f"{dataset.name}: the store has none of its judgements; run its suite again for them")
        return None
    try:
        judgements = read_judgements(store.read(step).folder)
    except Corrupt as error:
        notes.append(f"{dataset.name}: {error}; its judgements are left out")
        return None
    with writing.replacing(path) as new:
        write_qrels(new, judgements)
    return path


def _of_documents(dataset: Dataset, path: Path, store: Store, notes: list[str]) -> Path | None:
    """Writes the judgements of documents, derived from the passages and judgements in the store. Returns the
    path, or None with a note if the store lacks them."""
    digests = dataset.digests
    of_corpus = store.part("corpus", digests.get("corpus", ""))
    of_judgements = store.part("judgements", digests.get("judgements", ""))
    if of_corpus is None or of_judgements is None:
        notes.append(f"{dataset.name}: the store lacks its passages, and so the judgements of documents")
        return None
    try:
        corpus = Corpus(store.read(of_corpus).folder)
        judgements = read_judgements(store.read(of_judgements).folder)
    except Corrupt as error:
        notes.append(f"{dataset.name}: {error}; its judgements of documents are left out")
        return None
    positions = corpus.positions(judgements.passage_ids)
    missing = np.flatnonzero(positions < 0)
    positions[missing] = corpus.passages + np.arange(len(missing))
    judged = Judged(judgements.query, positions[judgements.passage], judgements.grade)
    best = of_documents(judged, corpus.document_of, corpus.documents)
    # a passage that the corpus lacks counts as a document of its own, so its query stays judged
    unknown = [judgements.passage_ids[number] for number in missing]
    names = [*corpus.document_ids(np.arange(corpus.documents)), *unknown]
    codes = best.passage.astype(np.int32)
    with writing.replacing(path) as new:
        write_qrels(new, Judgements(judgements.query_ids, names, best.query, codes, best.grade))
    return path
