"""Datasets of which only ids are known, from judgements and runs; and run files as hits on any dataset."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from harness.collection import qrels_files
from harness.collection.corpus import Corpus
from harness.collection.judgements import judging
from harness.collection.queries import JUDGEMENTS as JUDGEMENTS_FILE
from harness.collection.queries import Judgements, Queries, read_judgements, write_judgements
from harness.errors import HarnessError
from harness.execution.open_dataset import Opened
from harness.leaderboard import cited_files
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.plan import keys
from harness.scoring import ranking, run_files
from harness.scoring.run_files import Run
from harness.store import disk
from harness.types import Hits, Unit

JUDGEMENTS = "judgements"  # the key, in a row's `files`, of judgements that are kept beside the leaderboard


class Ids(Corpus):
    """A corpus of passages without texts, in which each passage is a document of its own. Measures see only
    ranks and grades, so passages that are neither ranked nor judged would change no number."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = list(dict.fromkeys(ids))
        self._numbers = {name: number for number, name in enumerate(self._ids)}
        count = self.passages = self.documents = len(self._ids)
        self.document_of = np.arange(count, dtype=np.int32)
        self.first = np.arange(count + 1, dtype=np.int64)
        self.candidate = np.ones(count, np.bool_)
        self.id_rank = self.document_rank = ranking.ranks_of(self._ids)

    def ids(self, positions: NDArray[np.integer]) -> list[str]:
        return [self._ids[position] for position in positions.tolist()]

    def document_ids(self, documents: NDArray[np.integer]) -> list[str]:
        return self.ids(documents)

    def positions(self, ids: Sequence[str] | pa.Array) -> NDArray[np.int64]:
        names = ids.to_pylist() if isinstance(ids, pa.Array) else ids
        return np.array([self._numbers.get(name, -1) for name in names], np.int64)

    def document_positions(self, ids: Sequence[str] | pa.Array) -> NDArray[np.int64]:
        return self.positions(ids)

    def texts(self, positions: NDArray[np.integer]) -> list[str]:
        return [""] * len(positions)

    def titles(self, documents: NDArray[np.integer]) -> list[str]:
        return [""] * len(documents)


def judgements_in(path: Path) -> tuple[Judgements, str]:
    """The judgements of a file, and their digest. The digest is the same whichever plugin reads them."""
    with disk.explaining(Path("the folder of temporary files")), tempfile.TemporaryDirectory() as name:
        write_judgements(qrels_files.read_qrels(path), Path(name))
        digest = keys.key({JUDGEMENTS_FILE: disk.sha256(Path(name, JUDGEMENTS_FILE))})
        return read_judgements(Path(name)), digest


def opened(judgements: Judgements, digest: str, ranked: Iterable[str]) -> Opened:
    """A dataset to score runs on: the judged queries, with all judged passages and those in `ranked`."""
    corpus = Ids([*judgements.passage_ids, *ranked])
    count = len(judgements.query_ids)
    nothing: list[list[str]] = [[] for _ in range(count)]
    queries = Queries(judgements.query_ids, [""] * count, nothing, nothing, nothing)
    judged = judging(corpus, queries, judgements).judged
    facts = {"queries": count, "judged_queries": count, "judgements": len(judged.query)}
    return Opened(corpus, queries, judged, {}, facts, {JUDGEMENTS: digest})


def citing(board: Leaderboard, dataset: str) -> list[Row]:
    """The rows of a dataset that cite judgements beside the leaderboard. There are such rows only if nothing
    but the judgements of the dataset was read."""
    return [row for row in board.rows_of(dataset) if JUDGEMENTS in row.files]


def judgements_of(board: Leaderboard, dataset: str) -> tuple[Judgements, str]:
    """The judgements beside the leaderboard that the rows of `dataset` cite, with their digest. Raises
    HarnessError if the file is missing or lies outside of the leaderboard's folder."""
    cited = citing(board, dataset)[0].files[JUDGEMENTS].path
    path = cited_files.within(board.folder, cited)
    if path is None:
        raise HarnessError(f"{dataset}: its judgements lie outside of the leaderboard's folder")
    return judgements_in(path)


def of_board(board: Leaderboard, dataset: str) -> Opened:
    """A dataset of which the leaderboard has only judgements, with all passages that its runs rank."""
    return opened(*judgements_of(board, dataset), _ranked(board, citing(board, dataset)))


def _ranked(board: Leaderboard, rows: Sequence[Row]) -> Iterable[str]:
    """The ids of all passages that the runs of these rows rank. A run that cannot be read is skipped here;
    the error is reported with its row."""
    for row in rows:
        try:
            path = cited_files.intact(board, row, "run")
            yield from run_files.read_run(path).passage_ids if path else ()
        except HarnessError:
            continue


def placed(run: Run, unit: Unit, opened: Opened, *, strict: bool = True) -> Hits:
    """A run as hits: one row for each query of the dataset, by passage position, in the order of the file.
    Raises HarnessError for a passage that the corpus lacks. A query that the dataset lacks also raises
    HarnessError if `strict`; otherwise its ranking is left out."""
    corpus = opened.corpus
    find = corpus.positions if unit == "passage" else corpus.document_positions
    number = {name: i for i, name in enumerate(opened.queries.ids)}
    rows = np.array([number.get(name, -1) for name in run.query_ids], np.int64)
    if strict and (rows < 0).any():
        raise HarnessError(f"the dataset has no query '{run.query_ids[int(np.argmax(rows < 0))]}'")
    known = rows >= 0
    ranked, values = run.hits.passages[known], run.hits.scores[known]
    positions = find(run.passage_ids)
    unknown = ranked[(ranked >= 0) & (positions[ranked] < 0)]
    if len(unknown):
        others = len(np.unique(unknown)) - 1
        what = f"the corpus has no {unit} '{run.passage_ids[int(unknown[0])]}'"
        what += f", and {others:,} others of the run are not there either" if others else ""
        raise HarnessError(f"{what}; use the collection that the run was made on")
    shape = (len(opened.queries.ids), run.hits.passages.shape[1])
    passages, scores = np.full(shape, -1, np.int64), np.full(shape, -np.inf, np.float32)
    passages[rows[known]] = np.where(ranked < 0, -1, positions[ranked])
    scores[rows[known]] = values
    return Hits(passages, scores, unit)
