"""Table 4 of the survey of dense retrieval (Zhao et al. 2024) as data, with the ids of ir_datasets."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = "Zhao et al. 2024, table 4"


class Counts(NamedTuple):
    """The counts that the table prints for a collection. None stands for a dash in the table."""

    train: int | None = None  # queries
    labels: int | None = None  # judgements of the training queries
    dev: int | None = None  # queries
    test: int | None = None  # queries
    instances: int | None = None  # candidate texts


class Entry(NamedTuple):
    """A collection of the survey. `ids` has the id in ir_datasets of each split, the usual split first. In an
    id, `{}` stands for the part that the user writes behind a slash, one of `parts`. If ir_datasets lacks the
    collection, `ids` is empty and `elsewhere` says where to get it."""

    name: str
    domain: str
    counts: Counts
    ids: Mapping[str, str] = {}
    parts: Sequence[str] = ()
    elsewhere: str = ""
    note: str = ""


def _entries(table: str) -> tuple[Entry, ...]:
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[table]
    return tuple(Entry(**{**each, "counts": Counts(**each.get("counts", {}))}) for each in entries)


TABLE = _entries("table")
BESIDE = _entries("beside")  # collections that the survey names in its text (A.1), without counts


def printed(entry: Entry, split: str) -> dict[str, int]:
    """The counts that the table prints for one split, by the names of `harness.collection.cards`. A count
    that the table prints for several collections together is left out, because it holds for none of them."""
    counts = entry.counts
    queries = {"train": counts.train, "dev": counts.dev, "test": counts.test}.get(split)
    together = bool(entry.parts) and entry.name != "mMARCO"
    printed_counts = {
        "passages": None if together else counts.instances,
        "queries": None if together else queries,
        "judgements": counts.labels if split == "train" else None,
    }
    return {name: count for name, count in printed_counts.items() if count is not None}
