"""Checks, before the first step, whether the disk has room for the runs of a leaderboard."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.plan.graph import Plan
from harness.problems import shown_path
from harness.store.artifacts import Corrupt, Store

BYTES = 12  # for each hit of a compressed run: 8 to 11.5 were measured


def short_of(planned: Plan, store: Store, out: Path) -> str | None:
    """A message if the disk of `out` has less room than the runs of the selected rows may take. None if there
    is enough room, or if the datasets are not in the store yet. The estimate is an upper bound: queries with
    fewer hits than the depth take less."""
    most = sum(_hits(planned, store, row.dataset) for row in planned.rows if row.selected and row.hits)
    free = shutil.disk_usage(out).free
    if most * BYTES <= free:
        return None
    needed, room = (f"{count / 1e6:,.1f} MB" for count in (most * BYTES, free))
    advice = "make room, or choose another folder with --out"
    return f"{shown_path(out)}: {room} are free, and the runs may take up to {needed}; {advice}"


def _hits(planned: Plan, store: Store, dataset: str) -> int:
    """The most hits that a system can have on a dataset; 0 if the dataset is not in the store."""
    parts = planned.collections[dataset].parts
    try:
        queries = store.read(parts["queries"], trust=True).facts["queries"]
        passages = store.read(parts["corpus"], trust=True).facts["passages"]
    except (Corrupt, KeyError):
        return 0
    return int(queries) * min(planned.suite.depth, int(passages))
