"""A dataset of a suite as the store has it, for commands of plugins: columns, card and stages.

Status: provisional.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness import catalogue, plan, suite, user_cache
from harness.cli.datasets import of_suite
from harness.collection.cards import FILE as CARD_FILE
from harness.collection.cards import FORM as CARD_FORM
from harness.collection.cards import card as counted
from harness.execution import open_dataset, progress
from harness.leaderboard.stage_tables import Counted, dropped, table
from harness.plan.graph import Collection, Step
from harness.running.made import dataset_flags, stage_facts, stage_params
from harness.store.artifacts import Store
from harness.store.manifest import Artifact
from harness.types import Part

__all__ = [
    "CARD_FILE", "CARD_FORM", "Collection", "Counted", "MadeDataset", "Step", "counted", "dataset_flags",
    "dropped", "made",
    "opened", "stage_facts", "stage_params", "table",
]  # fmt: skip


class MadeDataset(NamedTuple):
    collection: Collection
    steps: Mapping[str, Step]
    parts: Mapping[Part, Artifact]


def opened(folder: Path | None) -> Store:
    """The store in this folder, or the user's."""
    return Store(folder or user_cache.default_store()).open()


def made(path: Path, name: str, store: Store) -> MadeDataset:
    """The dataset of the suite at `path`. Steps that the store lacks are executed, as by a run."""
    records = catalogue.load()
    whole = suite.load(path, records)
    [spec] = of_suite(whole, name)
    collection, steps = plan.dataset(spec, records, store.digests.of, whole)
    with progress.reporter(sys.stderr) as reporter:
        return MadeDataset(collection, steps, open_dataset.made_parts(collection, steps, store, reporter))
