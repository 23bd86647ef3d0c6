"""How much memory the processes of a group hold, read from Linux' /proc."""

from __future__ import annotations

import contextlib
from pathlib import Path

PROC = Path("/proc")
COUNTED = ("RssAnon:", "RssShmem:", "VmSwap:")  # pages of mapped files are the system's to drop


def can_be_read() -> bool:
    return (PROC / "self" / "status").exists()


def of_group(group: int) -> float:
    """Gigabytes (10^9 bytes) that the processes of a group hold together."""
    kilobytes = 0
    for folder in PROC.iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):  # a process may end meanwhile
            if folder.name.isdigit() and _group_of(folder) == group:
                lines = (folder / "status").read_text().splitlines()
                kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith(COUNTED))
    return kilobytes * 1024 / 1e9


def _group_of(folder: Path) -> int:
    # after the name, which may itself hold spaces and brackets: state, parent, group
    return int((folder / "stat").read_text().rpartition(")")[2].split()[2])
