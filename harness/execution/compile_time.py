"""Tells apart the time that numba spends compiling, which is paid once a store, from a step's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def watch(libraries: tuple[str, ...]) -> Callable[[], float]:
    """Start to listen if a method says that it uses numba; the function returned gives the seconds so far."""
    if "numba" not in libraries:
        return lambda: 0.0
    from numba.core import event

    listener: Any = event.TimingListener()
    event.register("numba:compile", listener)

    def seconds() -> float:
        event.unregister("numba:compile", listener)
        return float(listener.duration) if listener.done else 0.0

    return seconds
