"""The ranking of one row for some queries, from the store or from the run file that the row cites."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.inspect.material import Material, hits_step
from harness.leaderboard import cited_files
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.problems import shown_path
from harness.store import hits_files
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt

COLUMNS = 6


class Ranked(NamedTuple):
    """The best hits of a ranking, its length, and the ranks of the wanted ids."""

    ids: list[str]
    scores: list[float]
    length: int
    ranks: dict[str, int]  # the ranks of wanted ids in the ranking, from 1


class Rankings:
    """A row's rankings of some queries, from the store or its run file; empty if neither is available."""

    def __init__(
        self, board: Leaderboard, row: Row, material: Material | None, store: Store, queries: Collection[str]
    ) -> None:
        self.unit = row.unit
        self.material = material
        step = hits_step(row)
        self.hits = self.lines = None
        if material is not None and step is not None and store.has(step):
            try:
                self.hits = hits_files.load(store.read(step))
            except Corrupt:  # the run file has the same ranking
                self.hits = None
        if self.hits is None:
            path = cited_files.intact(board, row, "run")
            self.lines = None if path is None else _lines(path, queries)
        self.at_hand = self.hits is not None or self.lines is not None

    def of(self, query: str, top: int, wanted: Sequence[str]) -> Ranked:
        """The ranking of a query: its `top` best hits, and the ranks of the ids in `wanted`."""
        if self.hits is None or self.material is None:
            lines = (self.lines or {}).get(query, [])
            places = {name: rank for rank, (name, _) in enumerate(lines, 1)}
            ranks = {name: places[name] for name in wanted if name in places}
            return Ranked([id for id, _ in lines[:top]], [s for _, s in lines[:top]], len(lines), ranks)
        number = self.material.number.get(query)
        if number is None:
            return Ranked([], [], 0, {})
        ranking = self.hits.passages[number]
        length = int((ranking >= 0).sum())
        best = ranking[: min(top, length)].astype(np.int64)
        at = self.material.positions(wanted, self.unit) if wanted else np.zeros(0, np.int64)
        ranks = {}
        for name, position in zip(wanted, at.tolist(), strict=True):
            at_rank = np.flatnonzero(ranking == position)
            if position >= 0 and len(at_rank):
                ranks[name] = int(at_rank[0]) + 1
        scores = self.hits.scores[number, : len(best)].tolist()
        return Ranked(self.material.ids(best, self.unit), scores, length, ranks)


def _lines(path: Path, queries: Collection[str]) -> dict[str, list[tuple[str, float]]]:
    """The lines of a run file for these queries, best first. Other lines are skipped without being parsed."""
    wanted = {query.encode() for query in queries}
    lines_by_query: dict[str, list[tuple[str, float]]] = {}
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.partition(b" ")[0].partition(b"\t")[0] not in wanted:
                    continue
                words = line.decode().split()
                if len(words) != COLUMNS:
                    raise HarnessError(f"{shown_path(path)}:{number}: is no line of a run; mend the file")
                lines_by_query.setdefault(words[0], []).append((words[2], float(words[4])))
    except (OSError, EOFError, ValueError) as error:
        raise HarnessError(f"{shown_path(path)}: cannot be read ({error}); check the file") from None
    for lines in lines_by_query.values():  # the order of trec_eval: ties by id, descending as bytes
        lines.sort(key=lambda line: (np.float32(line[1]), line[0].encode()), reverse=True)
    return lines_by_query
