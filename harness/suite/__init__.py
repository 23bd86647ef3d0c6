"""Suites: a YAML file of datasets and systems, checked against the catalogue, as plain dataclasses."""

from __future__ import annotations

from pathlib import Path

from harness.catalogue import Catalogue
from harness.suite.changes import Changes, applied
from harness.suite.model import Chosen, DatasetSpec, Rerank, Stage, Suite, System, Tuning, Unsound

NO_CHANGES = Changes()

__all__ = [
    "Changes", "Chosen", "DatasetSpec", "Rerank", "Stage", "Suite", "System", "Tuning", "Unsound", "load",
]  # fmt: skip


def load(path: Path, catalogue: Catalogue, changes: Changes = NO_CHANGES) -> Suite:
    """The suite of the file `path` with `changes` applied, checked. Raises HarnessError with all problems of
    the suite."""
    from harness.suite import check, include

    return check.Checker(catalogue).suite(applied(include.read(path.absolute()), changes), changes)
