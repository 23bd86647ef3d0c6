"""The per-query values of several systems side by side, over the queries that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.compare.stats.block import Block
from harness.errors import HarnessError
from harness.leaderboard.model import Row
from harness.leaderboard.per_query import PerQuery
from harness.scoring.measures.names import Average, is_sum
from harness.types import Ints


class Entry(NamedTuple):
    """A row that has per-query values."""

    name: str  # the system, with its leaderboard if several have this system
    system: str
    board: int
    row: Row
    values: PerQuery


class Column(NamedTuple):
    """One measure on a dataset. Column i of the block is the system `systems[i]`."""

    label: str
    systems: tuple[int, ...]  # positions in the field's entries
    block: Block


class Field(NamedTuple):
    """One dataset, with all systems over the queries that they share."""

    dataset: str
    split: str
    queries: int
    of: int  # the largest number of queries of a system
    entries: tuple[Entry, ...]
    columns: tuple[Column, ...]


def field_of(
    dataset: str, entries: list[Entry], labels: Sequence[tuple[str, str]], notes: list[str]
) -> Field:
    places = _shared(dataset, entries)
    queries, most = len(places[0]), max(len(entry.values.queries) for entry in entries)
    if queries < most:
        notes.append(f"{dataset}: compared on the {queries} queries that all share, of up to {most}")
    columns = []
    for label, measure in labels:
        systems = [i for i, entry in enumerate(entries) if entry.values.values(label) is not None]
        if systems:
            columns.append(Column(label, tuple(systems), _block(label, measure, entries, systems, places)))
    return Field(dataset, entries[0].row.split, queries, most, tuple(entries), tuple(columns))


def _block(
    label: str, measure: str, entries: Sequence[Entry], systems: Sequence[int], places: Sequence[Ints]
) -> Block:
    parts, wholes = [], []
    ratio = False
    for i in systems:
        columns = entries[i].values.columns
        if label in columns:
            parts.append(columns[label][places[i]])
            wholes.append(np.ones(len(places[i])))
        else:
            ratio = True
            parts.append(columns[f"{label} numerator"][places[i]])
            wholes.append(columns[f"{label} denominator"][places[i]])
    average: Average = "ratio" if ratio else "sum" if is_sum(measure) else "mean"
    return Block(np.stack(parts, axis=1), np.stack(wholes, axis=1), average)


def _shared(dataset: str, entries: Sequence[Entry]) -> list[Ints]:
    """int64[n] for each entry: the positions in its file of the queries that all entries have, in the order
    of the first entry."""
    first = entries[0].values.queries
    if all(entry.values.queries.equals(first) for entry in entries):
        return [np.arange(len(first))] * len(entries)
    numbers = []
    for entry in entries:
        ids = entry.values.queries.to_pylist()
        numbers.append({name: i for i, name in enumerate(ids)})
        if len(numbers[-1]) < len(ids):
            where = f"{dataset} / {entry.name}"
            raise HarnessError(f"{where}: a query stands twice in its per-query values; run the suite again")
    wanted = [name for name in numbers[0] if all(name in other for other in numbers)]
    if not wanted:
        raise HarnessError(f"{dataset}: the systems share no query; compare runs of the same split")
    return [np.array([number[name] for name in wanted], np.int64) for number in numbers]
