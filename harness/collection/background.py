"""Makes calls in a background thread, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

Later: TypeAlias = Callable[..., Future[Any]]


@contextmanager
def behind(depth: int = 2) -> Iterator[Later]:
    """A function `later(function, *values)` for the body, which calls `function` in a background thread.
    Calls are made one at a time and in order; at most `depth` calls wait. An error of a call is raised by a
    later use of `later`, or at the end of the body. This is faster for few, long calls that release the
    interpreter's lock: writing, hashing, Arrow's functions on whole columns."""
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="behind") as pool:

        def later(function: Callable[..., Any], *values: Any) -> Future[Any]:
            while len(waiting) >= depth:
                waiting.popleft().result()
            waiting.append(pool.submit(function, *values))
            return waiting[-1]

        yield later
        while waiting:
            waiting.popleft().result()
