"""Corpora that end an indexing in the middle, by an exception or by killing the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from harness.testing.texts import MemoryTexts
from harness.types import Batch

EXIT = 99  # what a process killed by its corpus exits with


class Stopped(BaseException):
    """What interrupts an indexing, as Ctrl-C would: no plugin should catch it."""


@dataclass(frozen=True)
class Dying(MemoryTexts):
    """Texts that can be read in full until `after` batches have been handed out, and then strike."""

    after: int = 1
    kill: bool = False

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        for number, batch in enumerate(super().batches(size, start, stop)):
            if number == self.after:
                self.strike()
            yield batch
        self.strike()

    def strike(self) -> NoReturn:
        if self.kill:
            os._exit(EXIT)  # no `finally`, no flush: as if by kill -9
        raise Stopped


def dying(texts: MemoryTexts, after: int, kill: bool = False) -> Dying:
    return Dying(**vars(texts), after=after, kill=kill)
