"""One query across systems: rankings side by side, judgements, values, and the ranks of the positives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.inspect import material, written_queries
from harness.inspect.marks import Piece
from harness.inspect.material import Material, Variant
from harness.inspect.rankings import Rankings
from harness.inspect.written_queries import WrittenQueries
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Row
from harness.problems import nearest
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.types import Unit


class Hit(NamedTuple):
    rank: int
    id: str
    score: float
    grade: int | None  # None if it is not judged, or if there are no judgements


class Positive(NamedTuple):
    id: str
    grade: int
    rank: int | None  # None if it is not in the ranking


class Ranking(NamedTuple):
    """The ranking of one system for the query."""

    system: str
    unit: Unit
    values: dict[str, float]  # values of this query, by measure
    hits: tuple[Hit, ...]  # the best hits
    length: int  # the length of the whole ranking
    positives: tuple[Positive, ...]  # the relevant ids with their ranks
    variant: Variant | None  # the text that its last method read; None if unknown
    rewrites: tuple[str, ...] = ()  # the output of each of its rewriters for the query, as text


class QueryView(NamedTuple):
    dataset: str
    id: str
    text: str | None  # None if it is not available
    slices: tuple[str, ...]
    answers: tuple[str, ...]
    rankings: tuple[Ranking, ...]
    judged: bool  # whether judgements are available; without them all grades are None


@dataclass(frozen=True)
class Inspected:
    """One dataset of a leaderboard, opened to look at some of its queries."""

    dataset: Dataset
    rows: tuple[Row, ...]
    material: Material | None
    notes: tuple[str, ...]  # messages on what is not available
    runs: tuple[Rankings, ...]  # one for each row
    values: tuple[per_query.PerQuery | None, ...]
    places: dict[str, tuple[int, ...]]  # query -> its line in each row's values, -1 if missing
    variants: tuple[Variant | None, ...]
    rewritten: tuple[tuple[WrittenQueries, ...], ...] = ()  # each row's rewriters, as far as known

    def knows(self, query: str) -> bool:
        """Whether some row has a value or a ranking for the query."""
        return any(place >= 0 for place in self.places[query]) or any(
            run.lines is not None and query in run.lines for run in self.runs
        )

    def query(self, query: str, top: int, measure: str | None = None) -> QueryView:
        """The view of one of the opened queries, with its values by `measure`, or by all measures."""
        known = self.material.number.get(query) if self.material else None
        rankings = tuple(self._ranking(i, query, top, measure) for i in range(len(self.rows)))
        if self.material is None or known is None:
            return QueryView(self.dataset.name, query, None, (), (), rankings, self.material is not None)
        queries = self.material.queries
        slices, answers = tuple(queries.slices[known]), tuple(queries.answers[known])
        text = queries.texts[known] if self.material.has_texts else None
        return QueryView(self.dataset.name, query, text, slices, answers, rankings, True)

    def _ranking(self, i: int, query: str, top: int, measure: str | None) -> Ranking:
        row, unit = self.rows[i], self.rows[i].unit
        grades = self.material.grades(query, unit) if self.material else {}
        wanted = [name for name, grade in grades.items() if grade > 0]
        ranked = self.runs[i].of(query, top, wanted)
        hits = tuple(
            Hit(rank, name, score, grades.get(name))
            for rank, (name, score) in enumerate(zip(ranked.ids, ranked.scores, strict=True), 1)
        )
        positives = [Positive(name, grades[name], ranked.ranks.get(name)) for name in wanted]
        positives.sort(key=lambda item: (item.rank is None, item.rank or 0, -item.grade, item.id))
        return Ranking(
            row.system,
            unit,
            self._values(i, query, measure),
            hits,
            ranked.length,
            tuple(positives),
            self.variants[i],
            self._rewrites(i, query),
        )

    def _rewrites(self, i: int, query: str) -> tuple[str, ...]:
        number = self.material.number.get(query) if self.material else None
        if number is None or not self.rewritten:
            return ()
        return tuple(item.of(number) for item in self.rewritten[i])

    def _values(self, i: int, query: str, measure: str | None) -> dict[str, float]:
        row_values, place = self.values[i], self.places[query][i]
        if row_values is None or place < 0:
            return {}
        labels = [label for label in self.rows[i].measures if measure in (None, label)]
        named = {label: row_values.values(label) for label in labels}
        return {
            label: float(values[place])
            for label, values in named.items()
            if values is not None and np.isfinite(values[place])
        }

    def texts(self, ids: Sequence[str], variant: Variant) -> dict[str, tuple[Piece, ...]]:
        """Passages (or documents) as a system read them, by id, in pieces that show what context added. Texts
        that are not available are left out."""
        if self.material is None or not self.material.has_texts or not ids:
            return {}
        at = self.material.positions(ids, variant.unit)
        known = np.flatnonzero(at >= 0)
        try:
            texts = self.material.texts(at[known], variant)
        except Corrupt:
            return {}
        return {ids[i]: text for i, text in zip(known.tolist(), texts, strict=True)}


def opened(
    board: Leaderboard, dataset: Dataset, rows: Sequence[Row], store: Store, queries: Collection[str]
) -> Inspected:
    """Opens a dataset for these rows and queries, as far as possible. The notes list what is missing."""
    material_or_reason = material.opened(board, dataset, store)
    at_hand = material_or_reason if isinstance(material_or_reason, Material) else None
    notes = [] if at_hand else [str(material_or_reason)]
    if at_hand and not at_hand.has_texts:
        notes.append(f"{dataset.name}: neither texts nor queries are known, only judgements")
    runs = tuple(Rankings(board, row, at_hand, store, queries) for row in rows)
    notes += [
        f"{row.name}: neither the store nor the folder has its run"
        for row, run in zip(rows, runs, strict=True)
        if not run.at_hand
    ]
    values = tuple(per_query.read(board, row) for row in rows)
    notes += [
        f"{row.name}: its per-query values are not in the folder"
        for row, item in zip(rows, values, strict=True)
        if item is None
    ]
    return Inspected(
        dataset, tuple(rows), at_hand, tuple(notes), runs, values, _places(values, queries),
        tuple(material.variant_of(row, store) for row in rows),
        tuple(tuple(written_queries.of_row(row, store)) for row in rows),
    )  # fmt: skip


def _places(
    values: Sequence[per_query.PerQuery | None], queries: Collection[str]
) -> dict[str, tuple[int, ...]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(list(queries), pa.string())
    columns = []
    for item in values:
        lines = None if item is None else pc.index_in(wanted, value_set=item.queries)
        columns.append([-1] * len(wanted) if lines is None else lines.fill_null(-1).to_pylist())
    return {query: tuple(column[i] for column in columns) for i, query in enumerate(wanted.to_pylist())}


def chosen_rows(
    board: Leaderboard, dataset: str | None, systems: Sequence[str]
) -> Iterator[tuple[Dataset, list[Row]]]:
    """The datasets with their scored rows, limited to `dataset` and `systems`. Raises HarnessError for an
    unknown name."""
    _known("dataset", [dataset] if dataset else [], {item.name for item in board.data.datasets})
    _known("system", systems, {row.system for row in board.rows})
    for item in board.data.datasets:
        if dataset not in (None, item.name):
            continue
        rows = [row for row in board.rows if row.dataset == item.name and row.status == "ok"]
        named = {row.system: row for row in rows}
        yield item, [named[name] for name in systems if name in named] if systems else rows


def _known(kind: str, names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            near = nearest(name, sorted(known))
            hint = f"there are {', '.join(sorted(known))}" if near is None else f"did you mean '{near}'?"
            raise HarnessError(f"{kind} '{name}': the leaderboard has no such {kind}; {hint}")
