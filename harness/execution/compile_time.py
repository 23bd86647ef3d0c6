"""Measures the time that numba spends compiling. A step's time and its timeout do not include this time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

    class Bounds(event.Listener):  # type: ignore[misc, unused-ignore]  # numba is untyped
        """Calls `compiling` when the outermost compilation begins and ends. One compilation may start
        others."""

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
