"""Measures the time that numba spends compiling, which a step's time and its timeout do not include, and
guards the compiled code that processes share."""

from __future__ import annotations

import contextlib
import fcntl
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def watch(
    libraries: Iterable[str], compiling: Callable[[bool], None] = lambda begins: None
) -> Callable[[], float]:
    """Start to measure the time that numba spends compiling, if numba is among the `libraries`. The returned
    function ends the measurement and returns the seconds. Meanwhile `compiling(True)` is called when numba
    begins to compile, and `compiling(False)` when numba has finished."""
    if "numba" not in libraries:
        return lambda: 0.0
    from numba.core import event

    guard_cache()

    class Bounds(event.Listener):  # type: ignore[misc, unused-ignore]  # numba is untyped
        """Calls `compiling` when the outermost compilation begins and ends. It may start others."""

        depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                compiling(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                compiling(False)

    listeners: list[Any] = [event.TimingListener(), Bounds()]
    for listener in listeners:
        event.register("numba:compile", listener)

    def seconds() -> float:
        for listener in listeners:
            event.unregister("numba:compile", listener)
        timing = listeners[0]
        return float(timing.duration) if timing.done else 0.0

    return seconds


def guard_cache() -> None:
    """Let one process at a time save compiled code of a function. Without this, two processes that compile a
    function for different types at once choose the same file, and numba's index can then name the code for
    the one as that for the other."""
    from numba.core import caching

    files: Any = caching.IndexDataCacheFile
    save = files.save
    if hasattr(save, "__wrapped__"):  # it was guarded before
        return

    @functools.wraps(save)
    def guarded(file: Any, key: Any, data: Any) -> None:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # a file system without locks
                lock = stack.enter_context(Path(f"{file._index_path}.lock").open("wb"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            save(file, key, data)

    files.save = guarded
