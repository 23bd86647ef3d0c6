"""Measures how long a process waits for a core that other processes use. On a free machine it would not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

THREADS = Path("/proc/self/task")  # on Linux: a folder for each thread of this process


def watch() -> Callable[[], float | None]:
    """Start to measure. The returned function returns the share of the time since then in which this process
    had to wait for a core, from 0 to 1; None where the system does not say.

    The threads of a pool wait for the slowest one, so the waits of the thread that waited longest count.
    Without its waits the process would still have needed its processor time on all cores together."""
    before, began, cpu_began = _waits(), time.perf_counter(), time.process_time()

    def share() -> float | None:
        after, elapsed = _waits(), time.perf_counter() - began
        if not before or not after or elapsed <= 0:
            return None
        waited = max(seconds - before.get(thread, 0.0) for thread, seconds in after.items())
        least = (time.process_time() - cpu_began) / cores()
        return min(max(min(waited, elapsed - least) / elapsed, 0.0), 1.0)

    return share


def _waits() -> dict[str, float]:
    """The seconds that each thread has waited for a core since it began; empty where the system does not
    say."""
    waits = {}
    for file in THREADS.glob("*/schedstat"):
        try:
            waits[file.parent.name] = int(file.read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):  # the thread has just ended
            continue
    return waits


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
