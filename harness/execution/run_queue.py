"""Measures how much longer a step takes because other processes use the cores."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

THREADS = Path("/proc/self/task")  # on Linux: a folder for each thread of this process


class Thread(NamedTuple):
    """What a thread has done since it began, in seconds. The rest of its time it was blocked."""

    ran: float
    queued: float  # ready to run, but without a core


def watch() -> Callable[[], float | None]:
    """Start to measure. The returned function, called by the same thread, returns the share of the time since
    then, from 0 to 1, that would have been saved on a free machine; None where the system does not say.

    On a free machine, the thread is never queued. While it is blocked, it may wait for the other threads of
    the process, as for a pool; this time shrinks as theirs does. If they did nothing, it waited for a disk, a
    service or the like, and this time stays. Of threads that have ended, only the processor time is known;
    they are taken to have been queued as often as the others. In any case the process needs its processor
    time on all cores together."""
    before, began, cpu_began = _threads(), time.perf_counter(), time.process_time()
    name = str(threading.get_native_id())

    def share() -> float | None:
        after, elapsed = _threads(), time.perf_counter() - began
        if name not in before or name not in after or elapsed <= 0:
            return None
        zero = Thread(0.0, 0.0)
        spent = {thread: _difference(now, before.get(thread, zero)) for thread, now in after.items()}
        caller, cpu = spent.pop(name), time.process_time() - cpu_began
        ran, active = sum(one.ran for one in spent.values()), sum(map(sum, spent.values()))
        if caller.ran + ran:
            ended = max(cpu - caller.ran - ran, 0.0)
            active += ended * (caller.ran + caller.queued + active) / (caller.ran + ran)
            ran += ended
        blocked = max(elapsed - caller.ran - caller.queued, 0.0)
        saved = caller.queued + min(blocked, active) * (1 - ran / active if active else 0.0)
        return min(max(min(saved, elapsed - cpu / cores()) / elapsed, 0.0), 1.0)

    return share


def _difference(now: Thread, before: Thread) -> Thread:
    return Thread(max(now.ran - before.ran, 0.0), max(now.queued - before.queued, 0.0))


def _threads() -> dict[str, Thread]:
    """The threads of this process; empty where the system does not say what they have done."""
    threads = {}
    for file in THREADS.glob("*/schedstat"):
        try:
            ran, queued = (int(number) / 1e9 for number in file.read_text().split()[:2])
        except (OSError, ValueError):  # the thread has just ended
            continue
        threads[file.parent.name] = Thread(ran, queued)
    return threads


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
