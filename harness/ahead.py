"""Runs an iterator in a thread, a few items ahead of whoever consumes it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """The same items in the same order, or the same exception; at most `depth` wait at a time. It pays
    where both sides release the interpreter's lock often: in Arrow, in hashing, in reading and writing."""
    waiting: queue.Queue[T | _End] = queue.Queue(depth)
    stop = threading.Event()

    def put(item: T | _End) -> None:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if stop.is_set():
                    return
            put(_End(None))
        except BaseException as error:  # whatever it is, the consumer must see it
            put(_End(error))

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        stop.set()
        thread.join()


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
