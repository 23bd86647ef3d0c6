"""Reads from Linux' /proc how much memory a worker and the processes below it hold."""

from __future__ import annotations

from pathlib import Path

from harness.execution import process_family
from harness.execution.process_family import PROC

# pages of mapped files are not counted: the system drops them when it needs the room
HELD = ("RssAnon:", "RssShmem:", "VmSwap:")
SHARED_OUT = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")  # a page that processes share is counted once in all


def exceeds(leader: int, gigabytes: float) -> bool:
    """Whether the family of a leader holds more than this many gigabytes (10^9 bytes). The exact sum is slow:
    it is read when the fast one, which counts a shared page for each process, is too large."""
    members = [PROC / str(process) for process in process_family.members(leader)]
    return all(
        sum(_kilobytes(folder / name, fields) for folder in members) * 1024 > gigabytes * 1e9
        for name, fields in (("status", HELD), ("smaps_rollup", SHARED_OUT))
    )


def _kilobytes(file: Path, fields: tuple[str, ...]) -> int:
    try:
        return sum(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(fields))
    except OSError:
        return 0
