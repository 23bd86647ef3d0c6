"""Corpora that interrupt the build of an index, by an exception or by killing the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from harness.testing.texts import MemoryTexts
from harness.types import Batch

EXIT = 99  # exit code of a process that was killed by its corpus


class Stopped(BaseException):
    """An exception that interrupts the build of an index as Ctrl-C would. No plugin should catch it."""


@dataclass(frozen=True)
class InterruptedTexts(MemoryTexts):
    """Texts whose reader is interrupted after `after` batches."""

    after: int = 1
    kill: bool = False

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        for number, batch in enumerate(super().batches(size, start, stop)):
            if number == self.after:
                self.interrupt()
            yield batch
        self.interrupt()

    def interrupt(self) -> NoReturn:
        if self.kill:
            os._exit(EXIT)  # no `finally` and no flush, like kill -9
        raise Stopped


def interrupted(texts: MemoryTexts, after: int, kill: bool = False) -> InterruptedTexts:
    return InterruptedTexts(**vars(texts), after=after, kill=kill)
