"""The cost of a step so far, kept beside the step's folder. A run that goes on after a kill adds to it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import orjson

from harness.store import disk

EVERY = 10.0  # seconds between two writes, and so of work that a kill may leave uncounted


class Spent(NamedTuple):
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    joules: float | None = 0.0  # None: a run had no counters


class StepCost:
    """The cost of one step, written to a file every few seconds. `before` is what earlier killed runs spent
    on the work that is continued; it is zero if they left no work."""

    def __init__(self, files: Path, cpu: Callable[[], float], energy: Callable[[], float | None]) -> None:
        self.path = files.parent / "spent.json"
        self.before = _read(self.path) if any(files.iterdir()) else Spent()
        self._cpu, self._began, self._cpu_began = cpu, time.perf_counter(), cpu()
        self._energy = energy
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    @property
    def cpu_seconds(self) -> float:
        """The CPU seconds that this process has spent, without those of earlier runs."""
        return self._cpu() - self._cpu_began

    @property
    def joules(self) -> float | None:
        """The energy of all runs of the step, or None if the machine has no counters."""
        joules = self._energy()
        return None if joules is None or self.before.joules is None else self.before.joules + joules

    def __enter__(self) -> StepCost:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._ended.wait(EVERY):
            seconds = self.before.seconds + time.perf_counter() - self._began
            spent = Spent(seconds, self.before.cpu_seconds + self.cpu_seconds, self.joules)
            with contextlib.suppress(OSError):  # the step itself reports errors of the disk
                disk.replace_file(self.path, orjson.dumps(spent._asdict()))


def _read(path: Path) -> Spent:
    try:
        return Spent(**orjson.loads(path.read_bytes()))
    except (OSError, TypeError, ValueError):
        return Spent()
