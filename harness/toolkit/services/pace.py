"""Keeps requests below the limits that a service sets for a minute, and waits when the service demands it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """A schedule of requests, shared by threads. Each request takes a share of the minute: one for the
    request itself, or one for the tokens that it may use, whichever is longer. Requests go out in order, so
    that bursts stay below the limits too."""

    def __init__(
        self, requests: float | None, tokens: float | None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_request = 60.0 / requests if requests else 0.0
        self._per_token = 60.0 / tokens if tokens else 0.0
        self._now = now
        self._lock = threading.Lock()
        self._free = now()  # when the next request may go

    def wait(self, tokens: int, stop: threading.Event) -> None:
        """Waits until a request that may use `tokens` tokens may be sent, or until `stop` is set."""
        with self._lock:
            start = max(self._free, self._now())
            self._free = start + max(self._per_request, self._per_token * tokens)
        while (left := start - self._now()) > 0 and not stop.is_set():
            stop.wait(left)

    def pause(self, seconds: float) -> None:
        """Lets no request go for `seconds` seconds, because the service asked for this."""
        with self._lock:
            self._free = max(self._free, self._now() + seconds)
