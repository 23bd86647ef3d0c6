"""The stores of the nodes of Ray clusters: which are in use, and the removal of those that no run can use.

A process that uses a store holds a shared lock on the store's folder until it ends. Who removes a store holds
the exclusive lock, so a store in use is never removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path

from harness.store import disk

ASIDE = ".removed"
OF_ONE_RUN = re.compile(rf"[0-9a-f]{{16}}-([0-9a-f]{{16}})(?:{re.escape(ASIDE)})?")  # node, token of the run


def named(node: str, token: str, one_run: bool) -> str:
    """The name of a node's store. A store for `one_run` has the token of the run in its name."""
    return f"{node[:16]}-{token}" if one_run else node[:16]


def use(folder: Path) -> int:
    """Make the folder of a store and lock it against removal. Returns the descriptor that holds the lock
    until it is closed or the process ends."""
    while True:
        with disk.explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:  # it was removed just now
                continue
        with contextlib.suppress(OSError):  # a file system without locks lets nobody remove a store either
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if disk.is_at(descriptor, folder):
            return descriptor
        os.close(descriptor)


def remove_unused(base: Path, token: str) -> None:
    """Remove the stores in `base` that were made for one run, except those of the run `token` and those in
    use. What cannot be removed stays."""
    for folder in sorted(base.iterdir()):
        run = OF_ONE_RUN.fullmatch(folder.name)
        if run is not None and run[1] != token:
            with contextlib.suppress(OSError):  # in use, or another process removes it
                _remove(folder)


def _remove(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        aside = folder.with_name(f"{folder.name.removesuffix(ASIDE)}{ASIDE}")
        if disk.is_at(descriptor, folder):
            if folder != aside:
                disk.rename(folder, aside)
            disk.remove_tree(aside)
    finally:
        os.close(descriptor)
