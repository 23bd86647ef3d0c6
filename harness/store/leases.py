"""Leases: the steps that running processes still read, so that `cache gc` keeps them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.store import disk

BEAT = 60.0  # seconds between two signs of life of a lease
LAPSE = 15 * 60.0  # seconds without one after which a lease of another machine has lapsed


class Leases:
    """The leases of a store. Each is a file that its process holds locked, so that it ends with the process,
    however that ends. Some file systems show locks to the processes of one machine alone, so a lease is also
    dated every `BEAT` seconds, and one of another machine lapses after `LAPSE` seconds without that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps: dict[Path, frozenset[str]] = {}  # of the leases that were read; a lease never changes

    @contextmanager
    def held(self, steps: Iterable[str]) -> Iterator[None]:
        """A lease of these steps until the end of the body. There is none if the store cannot be written to:
        then it may still be cleaned from elsewhere, and what is missing is made again."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                path = stack.enter_context(self._written("\n".join(steps)))
                ended = threading.Event()
                beating = threading.Thread(target=_beat, args=(path, ended), daemon=True)
                stack.callback(ended.set)
                beating.start()
            yield

    @contextmanager
    def _written(self, text: str) -> Iterator[Path]:
        path = self._folder / f"{disk.host()}.{os.getpid()}.{secrets.token_hex(8)}"
        self._folder.mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            with self._locked(fcntl.LOCK_SH):  # until the lease is whole, no artifact is removed
                file = stack.enter_context(path.open("x", encoding="utf-8"))
                stack.callback(path.unlink, missing_ok=True)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.write(text)
                file.flush()
            yield path

    @contextmanager
    def closed(self) -> Iterator[None]:
        """No lease begins until the end of the body. An artifact that no lease names may be removed there: a
        process that takes a lease later finds it missing, and makes it again."""
        with contextlib.suppress(OSError):  # a store that is read-only may be older than leases
            self._folder.mkdir(exist_ok=True)
        with self._locked(fcntl.LOCK_EX) if self._folder.exists() else contextlib.nullcontext():
            yield

    def name(self, step: str) -> bool:
        """Whether a live lease names a step. Called while leases are `closed`, as `live`."""
        return any(step in steps for steps in self.live())

    def live(self) -> list[frozenset[str]]:
        """The steps of each live lease. Lapsed leases are removed."""
        return list(filter(None, map(self._named, list(self._folder.glob("*")))))

    def _named(self, path: Path) -> frozenset[str]:
        """The steps of a lease; none if it has lapsed."""
        try:
            with path.open(encoding="utf-8") as file:
                if _is_lapsed(path, file.fileno()):
                    with contextlib.suppress(OSError):
                        path.unlink()
                    return frozenset()
                if path not in self._steps:
                    self._steps[path] = frozenset(file.read().split("\n"))
                return self._steps[path]
        except FileNotFoundError:  # its process has just ended
            return frozenset()

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)


def _beat(path: Path, ended: threading.Event) -> None:
    while not ended.wait(BEAT):
        with contextlib.suppress(OSError):
            os.utime(path)


def _is_lapsed(path: Path, descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    here = path.name.partition(".")[0] == disk.host()
    return here or time.time() - path.stat().st_mtime > LAPSE
