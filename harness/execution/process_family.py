"""The processes of a worker on Linux: its group, and all that descend from it, in whatever session they are.

A worker adopts the orphans below it, so that a process that left its group and lost its parent stays in the
family. If the worker itself has died, they are known by a variable of their environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
MARK = "HARNESS_WORKER"  # the variable; its value is different for each worker
PASSES = 50  # a family that still has new members after so many passes is given up
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER in the system's headers


def adopt_orphans() -> None:
    """Have the orphans below this process become its children. Only Linux can do this."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def members(leader: int) -> set[int]:
    """The running processes of a leader's group and those that descend from it; none without /proc."""
    parents: dict[int, int] = {}
    family = {leader}
    for folder in _processes():
        with contextlib.suppress(OSError, ValueError, IndexError):  # a process may end meanwhile
            # the fields after the name are state, parent, group; the name may contain spaces and brackets
            state, parent, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if state not in "ZX":
                parents[int(folder.name)] = int(parent)
                if int(group) == leader:
                    family.add(int(folder.name))
    while new := {process for process, parent in parents.items() if parent in family} - family:
        family |= new
    return family & parents.keys()


def kill_below(leader: int) -> None:
    """Kill all members of a family but its leader, which must not have been waited for."""
    for _ in range(PASSES):
        if not _kill(members(leader) - {leader}):
            return


def kill_marked(mark: str) -> None:
    """Kill the processes that have the mark of a worker in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(PASSES):
        marked = set[int]()
        for folder in _processes():
            with contextlib.suppress(OSError):  # another user's, or it has ended
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    marked.add(int(folder.name))
        if not _kill(marked):
            return


def _kill(processes: set[int]) -> bool:
    """Kill these processes. Returns whether there were any."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
    return bool(processes)


def _processes() -> Iterator[Path]:
    return PROC.glob("[0-9]*")
