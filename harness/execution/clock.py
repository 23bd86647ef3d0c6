"""The time that a step has left."""

from __future__ import annotations

import time


class Clock:
    """The time left of a timeout. A new clock stands still until `go_on` is called."""

    def __init__(self, timeout: float | None) -> None:
        self._remaining = timeout
        self._since: float | None = None

    def left(self) -> float | None:
        """The seconds left; None if there is no limit, or while the clock stands still."""
        if self._remaining is None or self._since is None:
            return None
        return max(0.0, self._remaining - (time.monotonic() - self._since))

    def go_on(self) -> None:
        if self._since is None:
            self._since = time.monotonic()

    def pause(self) -> None:
        if self._since is not None:
            self._remaining, self._since = self.left(), None
