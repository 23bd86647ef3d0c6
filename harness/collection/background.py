"""Makes calls in a thread behind the one that asks for them, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

Later: TypeAlias = Callable[..., Future[Any]]


@contextmanager
def behind(depth: int = 2) -> Iterator[Later]:
    """Within it, `later(function, *values)` calls `function` soon, one at a time and in order; at most
    `depth` calls wait. An error of a call is raised by a later one or at the end. It pays for few, long
    calls that release the interpreter's lock: writing, hashing, Arrow's functions on whole columns."""
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
