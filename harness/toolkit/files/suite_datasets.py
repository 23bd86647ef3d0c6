"""Reads the documents of a dataset of a suite, for programs that prepare the input of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness import catalogue, suite
from harness.errors import HarnessError
from harness.problems import shown_path, unknown
from harness.types import Document


def documents_of_dataset(target: str) -> Iterable[Document]:
    """The documents of `SUITE#DATASET`. Raises HarnessError if the suite has no such dataset."""
    path, _, name = target.partition("#")
    loaded = suite.load(Path(path), catalogue.load())
    names = [spec.name for spec in loaded.datasets]
    if name not in names:
        raise HarnessError(f"{shown_path(loaded.path)}: {unknown('dataset', name, names)}")
    chosen = loaded.datasets[names.index(name)].chosen
    documents: Iterable[Document] = chosen.entry.record.build(chosen.params).documents()
    return documents
