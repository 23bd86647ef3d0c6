"""Keeps requests below a service's limits for a minute, and waits when it says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Each request takes a share of the minute: its own, and that of the tokens it may use. They go out in
    order, so that no burst passes the limits either. Threads share it."""

    def __init__(
        self, requests: float | None, tokens: float | None, now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._per_request = 60.0 / requests if requests else 0.0
        self._per_token = 60.0 / tokens if tokens else 0.0
        self._now, self._sleep = now, sleep
        self._lock = threading.Lock()
        self._free = now()  # when the next request may go

    def wait(self, tokens: int) -> None:
        """Return when a request of so many tokens may go."""
        with self._lock:
            start = max(self._free, self._now())
            self._free = start + max(self._per_request, self._per_token * tokens)
        while (left := start - self._now()) > 0:
            self._sleep(left)

    def pause(self, seconds: float) -> None:
        """The service wants nothing for so long."""
        with self._lock:
            self._free = max(self._free, self._now() + seconds)
