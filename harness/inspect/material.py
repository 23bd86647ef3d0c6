"""What the store still has of a leaderboard's dataset: passages, queries, judgements and composed texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness import steps as kinds
from harness.collection.composed_texts import View
from harness.collection.context_additions import Additions
from harness.collection.corpus import Corpus
from harness.collection.queries import Judgements, Queries, read_judgements, read_queries
from harness.errors import HarnessError
from harness.inspect import marks
from harness.inspect.marks import Piece
from harness.leaderboard import ids_only
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Row
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.types import PARTS, Hits, Ints, Unit


class Variant(NamedTuple):
    """Which text a system read: the context steps in order, and the unit."""

    stages: tuple[str, ...]
    unit: Unit


class Material:
    """An opened dataset. Opening it is expensive, so what was opened is kept."""

    def __init__(
        self, store: Store, corpus: Corpus, queries: Queries, judgements: Judgements, has_texts: bool
    ) -> None:
        self.store, self.corpus, self.queries, self.has_texts = store, corpus, queries, has_texts
        self.number = {name: i for i, name in enumerate(queries.ids)}
        self._judgements = judgements
        self._views: dict[Variant, View] = {}
        # finding ids reads the ids of the whole corpus, so results are kept
        self._known: dict[Unit, dict[str, int]] = {"passage": {}, "document": {}}

    def query_texts(self) -> dict[str, str]:
        """The texts of all queries by id; empty if only ids are known."""
        return dict(zip(self.queries.ids, self.queries.texts, strict=True)) if self.has_texts else {}

    @cached_property
    def _judged(self) -> tuple[NDArray[Any], dict[str, int], Ints]:
        """The order of the judgements by query, each query's code, and every judged passage's position."""
        order = np.argsort(self._judgements.query, kind="stable")
        codes = {name: code for code, name in enumerate(self._judgements.query_ids)}
        positions = self.corpus.positions(self._judgements.passage_ids)
        self._known["passage"].update(zip(self._judgements.passage_ids, positions.tolist(), strict=True))
        self.ids(np.unique(self.corpus.document_of[positions[positions >= 0]]).astype(np.int64), "document")
        return order, codes, positions

    def grades(self, query: str, unit: Unit) -> dict[str, int]:
        """The grades of a query's judged passages by id. A document has its passages' highest grade."""
        order, codes, positions = self._judged
        code = codes.get(query)
        if code is None:
            return {}
        low, high = np.searchsorted(self._judgements.query[order], [code, code + 1])
        chosen = order[low:high]
        passages, grades = self._judgements.passage[chosen], self._judgements.grade[chosen].tolist()
        if unit == "passage":
            return dict(zip((self._judgements.passage_ids[i] for i in passages), grades, strict=True))
        best: dict[str, int] = {}
        at = positions[passages]
        known = at >= 0  # a passage that the corpus lacks belongs to no document
        names = self.corpus.document_ids(self.corpus.document_of[at[known]])
        for name, grade in zip(names, np.array(grades)[known].tolist(), strict=True):
            best[name] = max(grade, best.get(name, grade))
        return best

    def judged_share(self, hits: Hits, first: int) -> float | None:
        """The share of judged hits among the `first` hits of all judged queries; None without hits."""
        _, _, positions = self._judged
        numbers = np.array([self.number.get(name, -1) for name in self._judgements.query_ids], np.int64)
        query, at = numbers[self._judgements.query], positions[self._judgements.passage]
        known = (query >= 0) & (at >= 0)
        query, at = query[known], at[known]
        if hits.unit == "document":
            at = self.corpus.document_of[at].astype(np.int64)
        judged_queries = np.unique(query)
        shown = hits.passages[judged_queries, :first].astype(np.int64)
        if not (shown >= 0).any():
            return None
        pairs = (
            judged_queries[:, None] * self.corpus.passages + shown
        )  # documents are at most as many as passages
        is_judged = np.isin(pairs[shown >= 0], query * self.corpus.passages + at)
        return float(is_judged.mean())

    def ids(self, positions: Ints, unit: Unit) -> list[str]:
        of = self.corpus.ids if unit == "passage" else self.corpus.document_ids
        names = of(positions)
        self._known[unit].update(zip(names, positions.tolist(), strict=True))
        return names

    def positions(self, ids: Sequence[str], unit: Unit) -> Ints:
        """int64[n]: the positions of these passages or documents, -1 for an unknown id."""
        known = self._known[unit]
        if new := [name for name in ids if name not in known]:
            find = self.corpus.positions if unit == "passage" else self.corpus.document_positions
            known.update(zip(new, find(new).tolist(), strict=True))
        return np.array([known[name] for name in ids], np.int64)

    def texts(self, positions: Ints, variant: Variant) -> list[tuple[Piece, ...]]:
        """The texts here as a system with this variant read them, in pieces that show what context added."""
        if variant not in self._views:
            stages = [Additions(self.store.read(step).folder) for step in variant.stages]
            self._views[variant] = View(self.corpus, stages, variant.unit)
        return marks.split(self._views[variant], positions)


def opened(board: Leaderboard, dataset: Dataset, store: Store) -> Material | str:
    """The material of a leaderboard's dataset, or a message on what the store lacks."""
    if ids_only.citing(board, dataset.name):
        return _of_judgements(board, dataset.name, store)
    cited = dataset.digests
    steps = {part: store.part(part, cited[part]) for part in PARTS if part in cited}
    for part in PARTS:
        if steps.get(part) is None:
            which = cited[part][:12] if part in cited else "of this leaderboard"
            return f"{dataset.name}: the store has no {part} {which}"
    try:
        folders = {part: store.read(step).folder for part, step in steps.items() if step is not None}
    except Corrupt as error:
        return f"{dataset.name}: {error}"
    queries, judgements = read_queries(folders["queries"]), read_judgements(folders["judgements"])
    return Material(store, Corpus(folders["corpus"]), queries, judgements, True)


def _of_judgements(board: Leaderboard, dataset: str, store: Store) -> Material | str:
    """The material of a dataset of which only ids are known: judgements, but no texts."""
    try:
        judgements, digest = ids_only.judgements_of(board, dataset)
    except HarnessError as error:
        return str(error)
    collection = ids_only.opened(judgements, digest, ())
    return Material(store, collection.corpus, collection.queries, judgements, False)


def hits_step(row: Row) -> str | None:
    """The id of the step whose ranking was scored, or None."""
    key = row.provenance.fingerprint
    for step in row.provenance.steps:
        if step.key == key:
            return f"{step.step}-{key}"
    return None


def variant_of(row: Row, store: Store) -> Variant | None:
    """The text that the last method of a row read; None if the store no longer has the row's steps."""
    step = hits_step(row)
    try:
        return None if step is None else Variant(_stages(step, store), row.unit)
    except Corrupt:
        return None


def _stages(step: str, store: Store) -> tuple[str, ...]:
    """The context steps that a step reads. A combiner reads no text itself; for it, they are those of its
    first input that ranks passages."""
    record = store.read(step, trust=True).record
    if isinstance(record, kinds.Search | kinds.Rerank):
        return tuple(stage.step for stage in record.texts.stages)
    below = record.hits if isinstance(record, kinds.Combine) else ()
    below = record.trials if isinstance(record, kinds.Pick) else below
    units = [store.read(each.step, trust=True).facts["unit"] for each in below]
    first = units.index("passage") if "passage" in units else 0
    return _stages(below[first].step, store) if below else ()
