"""Checks, before the first step, whether the disks have room for the corpora in the store and for the runs of
a leaderboard."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from harness.errors import StoreError
from harness.plan.graph import Plan
from harness.problems import shown_path
from harness.steps import ReadCorpus
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt

BYTES = 12  # for each hit of a compressed run: 8 to 11.5 were measured

SHARE = (
    10  # a corpus in the store takes more than a tenth of its files, which hold more than texts and titles
)


def short_of_corpora(planned: Plan, store: Store, steps: Iterable[str]) -> str | None:
    """A message if the disk of the store has less room than the files have bytes whose corpora are among the
    steps and not in the store yet. None if there is enough room. Raises StoreError if it has less than a
    tenth of that. Trials with limits are left out, because they keep a part of a corpus."""
    total, datasets = 0, []
    for step in (planned.steps[name] for name in steps):
        if isinstance(step.record, ReadCorpus) and step.record.limits is None and not store.has(step.id):
            total += step.record.file_bytes
            datasets.append(step.dataset)
    free = shutil.disk_usage(store.root).free
    if total <= free:
        return None
    needed, room = (f"{count / 1e6:,.1f} MB" for count in (total, free))
    names = ", ".join(dict.fromkeys(datasets))
    text = f"{shown_path(store.root)}: {room} are free, and the files of the corpora ({names}) have {needed}"
    advice = "make room, or choose another disk with --store"
    if total > SHARE * free:
        raise StoreError(f"{text}; {advice}")
    return f"{text}; if the disk is full, {advice}"


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
    parts = planned.collections[dataset].steps
    try:
        queries = store.read(parts["queries"], trust=True).facts["queries"]
        passages = store.read(parts["corpus"], trust=True).facts["passages"]
    except (Corrupt, KeyError):
        return 0
    return int(queries) * min(planned.suite.depth, int(passages))
