"""A suite: the YAML of datasets and systems, checked against the catalogue, as plain dataclasses."""

from __future__ import annotations

from pathlib import Path

from harness.catalogue import Catalogue
from harness.suite.model import Chosen, DatasetSpec, Rerank, Stage, Suite, System, Tuning, Unsound

__all__ = ["Chosen", "DatasetSpec", "Rerank", "Stage", "Suite", "System", "Tuning", "Unsound", "load"]


def load(path: Path, catalogue: Catalogue) -> Suite:
    """Read and check a suite. Raises HarnessError with everything that is wrong with it."""
    from harness.suite import check, include

    return check.Checker(catalogue).suite(include.read(path.absolute()))
