"""Keeps finished rows of hits in the step's folder, so that a killed run goes on after them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import orjson

from harness.store import disk, hits_files
from harness.types import JSON, Hits, Unit

EVERY = 10.0  # about as many seconds of work are lost when a run is killed


class Rows:
    """The finished blocks of rows of a step, in order. The caller chooses the bounds of the blocks; they must
    not depend on the rows that were kept."""

    def __init__(self, folder: Path, unit: Unit, keep: bool = True, start: int = 0) -> None:
        self.folder = folder
        self.unit = unit
        self.blocks: list[Hits] = []
        self.done = start  # finished rows, counted from the first row of the whole step
        self.seconds = 0.0
        self.counts: Counter[str] = Counter()  # counts that the method reported in runs that were killed
        self._written = 0  # blocks that are on disk
        self._last = time.monotonic()
        if not keep:
            self._remove()
        while (part := self._part(self.done)).exists():
            self._load(part)

    def add(self, hits: Hits, seconds: float, counts: Mapping[str, JSON]) -> None:
        """Add one block. `counts` is all that the method has reported in this process so far."""
        self.blocks.append(hits)
        self.done += len(hits.passages)
        self.seconds += seconds
        if time.monotonic() - self._last > EVERY:
            self._write(counts)

    def finish(self) -> Hits:
        """All rows. The files with the kept rows are removed, because they are no part of the artifact."""
        self._remove()
        return hits_files.joined(self.blocks, self.unit)

    def _remove(self) -> None:
        for part in self.folder.glob("rows-*.npz"):
            part.unlink()

    def _write(self, counts: Mapping[str, JSON]) -> None:
        fresh = hits_files.joined(self.blocks[self._written :], self.unit)
        state = orjson.dumps({"seconds": self.seconds, "counts": self.counts + Counter(counts)})
        with disk.replacing(self._part(self.done - len(fresh.passages))) as beside:
            np.savez(
                beside, passages=fresh.passages, scores=fresh.scores, said=np.frombuffer(state, np.uint8)
            )
        self._written = len(self.blocks)
        self._last = time.monotonic()

    def _load(self, part: Path) -> None:
        with np.load(part, allow_pickle=False) as kept:
            self.blocks.append(Hits(kept["passages"], kept["scores"], self.unit))
            state = orjson.loads(kept["said"].tobytes())
        self.done += len(self.blocks[-1].passages)
        self.seconds, self.counts = state["seconds"], Counter(state["counts"])
        self._written = len(self.blocks)

    def _part(self, start: int) -> Path:
        return self.folder / f"rows-{start:09d}.npz"
