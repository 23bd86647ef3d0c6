"""Reads from Linux' /proc how much memory the processes of a group hold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
# pages of mapped files are not counted: the system drops them when it needs the room
HELD = ("RssAnon:", "RssShmem:", "VmSwap:")
SHARED_OUT = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")  # a page that processes share is counted once in all


def exceeds(group: int, gigabytes: float) -> bool:
    """Whether the processes of a group together hold more than this many gigabytes (10^9 bytes). The exact
    sum takes long to read. It is read only when the faster sum, which counts a shared page once for each
    process, is too large."""
    members = list(_members(group))
    return all(
        sum(_kilobytes(folder / name, fields) for folder in members) * 1024 > gigabytes * 1e9
        for name, fields in (("status", HELD), ("smaps_rollup", SHARED_OUT))
    )


def _members(group: int) -> Iterator[Path]:
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):  # a process may end meanwhile
            # the fields after the name are state, parent, group; the name may contain spaces and brackets
            if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                yield folder


def _kilobytes(file: Path, fields: tuple[str, ...]) -> int:
    try:
        return sum(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(fields))
    except OSError:
        return 0
