"""The queries that a row's rewriters wrote, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from harness.leaderboard.model import Row
from harness.store import rewritten_files
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.types import Rewritten

SHOWN = 40  # how many terms of a query are shown


class WrittenQueries(NamedTuple):
    """The output of one rewriter for all queries."""

    name: str
    rewritten: Rewritten

    def of(self, query: int) -> str:
        """The rewritten query as text: `rm3: term 0.123, another 0.045`. For a vector, only its size and
        length are given."""
        if self.rewritten.texts is not None:
            return f"{self.name}: {self.rewritten.texts[query]}"
        if self.rewritten.terms is not None:
            return f"{self.name}: {_listed(self.rewritten.terms[query])}"
        assert self.rewritten.vectors is not None
        vector = self.rewritten.vectors[query]
        return f"{self.name}: a vector of {len(vector)} numbers, length {np.linalg.norm(vector):.4f}"


def of_row(row: Row, store: Store) -> Iterator[WrittenQueries]:
    """The output of each rewriter of a row, in order, as far as the store has it."""
    for step in row.provenance.steps:
        if step.step == "rewrite":
            try:
                artifact = store.read(f"rewrite-{step.key}")
            except Corrupt:
                continue
            yield WrittenQueries(step.name, rewritten_files.load(artifact.folder, artifact.facts["form"]))


def _listed(terms: Mapping[str, float]) -> str:
    """The terms with their weights, the heaviest first."""
    order = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
    more = f", and {len(order) - SHOWN} more" if len(order) > SHOWN else ""
    return ", ".join(f"{term} {weight:.4f}" for term, weight in order[:SHOWN]) + more
