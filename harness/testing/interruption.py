"""Corpora that interrupt the build of an index, by an exception or by killing the process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from harness.testing.subject import able, require
from harness.testing.texts import MemoryTexts
from harness.types import Batch, WholeDocument

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

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[WholeDocument]:
        for number, document in enumerate(super().documents(start, stop)):
            if number == self.after:
                self.interrupt()
            yield document
        self.interrupt()

    def interrupt(self) -> NoReturn:
        if self.kill:
            os._exit(EXIT)  # no `finally` and no flush, like kill -9
        raise Stopped


def interrupted(texts: MemoryTexts, after: int, kill: bool = False) -> InterruptedTexts:
    return InterruptedTexts(**vars(texts), after=after, kill=kill)


def leave_parts(index: Callable[[MemoryTexts], Any], corpus: MemoryTexts, folder: Path) -> None:
    """Interrupt the build of an index in the new `folder` after 0, 1 and 2 batches. Raises Broken if a build
    ends although it was interrupted, or if a build fails because of the files that an interrupted one
    left."""
    folder.mkdir()
    for after in (0, 1, 2):
        try:
            with able("index again where an index was interrupted"):
                index(interrupted(corpus, after))
        except Stopped:
            continue
        require(False, "it indexes without reading the texts, or continues after an interrupt")
