"""Rewritten queries on disk: one file for each block of queries, so that a killed step loses few of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson

from harness.store import disk
from harness.types import Form, Rewritten

BLOCK = 128  # queries in a file


def path_of(folder: Path, start: int, form: Form) -> Path:
    return folder / f"queries-{start:09d}.{'npy' if form == 'vectors' else 'json'}"


def save(path: Path, block: Rewritten) -> None:
    """Write a block of rewritten queries. The file is there whole or not at all."""
    with disk.replacing(path) as beside:
        if block.vectors is not None:
            np.save(beside, block.vectors.astype(np.float32))
        else:
            beside.write_bytes(orjson.dumps(block.texts if block.texts is not None else block.terms))


def load(folder: Path, form: Form) -> Rewritten:
    """All rewritten queries in the folder, in order."""
    if form == "vectors":
        parts = [np.load(path, allow_pickle=False) for path in sorted(folder.glob("queries-*.npy"))]
        return Rewritten(vectors=np.concatenate(parts) if parts else np.zeros((0, 0), np.float32))
    paths = sorted(folder.glob("queries-*.json"))
    rows = [row for path in paths for row in orjson.loads(path.read_bytes())]
    return Rewritten(texts=rows) if form == "text" else Rewritten(terms=rows)
