"""Hits on disk, as steps that search, combine and re-rank write them, and functions that join hits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.steps import results
from harness.steps.record import Ref
from harness.store.manifest import Artifact
from harness.types import JSON, Hits, Unit


def save(
    folder: Path, hits: Hits, corpus: Ref[results.Corpus], queries: Ref[results.Queries]
) -> dict[str, JSON]:
    """Write hits and return their facts, which name the corpus and the queries of the hits."""
    np.save(folder / "passages.npy", hits.passages.astype(np.int64))
    np.save(folder / "scores.npy", hits.scores.astype(np.float32))
    found = int((hits.passages >= 0).sum())
    return {"unit": hits.unit, "corpus": corpus.step, "queries": queries.step, "hits": found}


def load(artifact: Artifact) -> Hits:
    passages = np.load(artifact.folder / "passages.npy", mmap_mode="r")
    scores = np.load(artifact.folder / "scores.npy", mmap_mode="r")
    return Hits(passages, scores, cast("Unit", artifact.facts["unit"]))


def joined(parts: Sequence[Hits], unit: Unit) -> Hits:
    """The hits of several batches of queries in one, with narrower batches filled up."""
    width = max((part.passages.shape[1] for part in parts), default=0)
    passages = [_wide(part.passages, width, -1) for part in parts] or [np.zeros((0, 0), np.int64)]
    scores = [_wide(part.scores, width, -np.inf) for part in parts] or [np.zeros((0, 0), np.float32)]
    return Hits(np.concatenate(passages), np.concatenate(scores), unit)


def with_tail(head: Hits, whole: Hits) -> Hits:
    """The re-ranked head, then the rest of the run in its old order. The rest is scored below the head, each
    hit 1 less than the one before."""
    depth = head.passages.shape[1]
    tail = whole.passages[:, depth:]
    filled = head.passages >= 0
    lowest = np.where(filled, head.scores, np.inf).min(axis=1, initial=np.inf)
    lowest = np.where(np.isfinite(lowest), lowest, 0)[:, None]  # float[Q, 1]
    # float32 cannot represent steps of 1 beyond 2^24, so for large scores the step grows with the score
    step = np.maximum(1, np.abs(lowest) * 2.0**-20)
    scores = lowest - step * np.arange(1, tail.shape[1] + 1)
    scores = np.where(tail >= 0, scores, -np.inf).astype(np.float32)
    return Hits(np.hstack([head.passages, tail]), np.hstack([head.scores, scores]), head.unit)


def _wide(rows: Any, width: int, fill: float) -> Any:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=fill)
