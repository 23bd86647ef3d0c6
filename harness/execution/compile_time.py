"""Tells apart the time that numba spends compiling: it is no part of a step's time, nor of its timeout."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def watch(
    libraries: Iterable[str], compiling: Callable[[bool], None] = lambda begins: None
) -> Callable[[], float]:
    """Listen to numba if a method says that it uses it. `compiling(True)` is called when it begins to compile
    and `compiling(False)` when it has done. The function returned gives the seconds so far."""
    if "numba" not in libraries:
        return lambda: 0.0
    from numba.core import event

    class Bounds(event.Listener):  # type: ignore[misc, unused-ignore]  # numba is untyped
        """One compilation may start others; the outermost counts."""

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
