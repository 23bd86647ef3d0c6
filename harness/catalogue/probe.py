"""Tests whether importing a plugin ends or hangs a process, by importing it once in a child process.

The result is remembered in the user's cache folder, by the sizes and times of the plugin's files, so that the
test is repeated only after the plugin changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from harness import user_cache
from harness.catalogue.entry_points import EntryPoint

SURVIVED = 77  # an exit code that no interpreter ends with by itself
SECONDS = 180.0  # the limit of an import, sufficient on a busy machine
PROGRAM = """
import os, sys
sys.path[:] = sys.argv[3:]
from harness import catalogue
from harness.catalogue.entry_points import EntryPoint
point = EntryPoint("probe", sys.argv[1], sys.argv[2], "")
try:
    catalogue._records(catalogue._manager(), point)
except (Exception, SystemExit):
    pass  # the parent meets the same, and says so
os._exit(77)
"""


def crash_of(point: EntryPoint, seconds: float = SECONDS) -> str | None:
    """How the process ended that tried to import the plugin, in words; None if it did not."""
    memory = _memory(point)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return _advised(memory.read_text(encoding="utf-8"), memory)
    code = _tried(point, seconds)
    crash = _crash(code, seconds)
    if code == -signal.SIGKILL:  # rather by somebody else, as where memory is short
        return crash
    with contextlib.suppress(OSError):  # if the result cannot be saved, the import is tested each time
        memory.parent.mkdir(parents=True, exist_ok=True)
        beside = memory.with_name(f"{memory.name}.{os.getpid()}")
        beside.write_text(crash, encoding="utf-8")
        beside.replace(memory)
    return _advised(crash, memory)


def _advised(crash: str, memory: Path) -> str | None:
    return f"{crash}; remove {memory} to try it again" if crash else None


def _tried(point: EntryPoint, seconds: float) -> int | None:
    """The exit code of a process that imports the plugin; None if it takes longer."""
    command = [sys.executable, "-c", PROGRAM, point.value, point.distribution, *sys.path]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that processes that the child starts end with it
    )
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _crash(code: int | None, seconds: float) -> str:
    """How an import ended the process with this exit code, in words; empty if it did not."""
    if code == SURVIVED:
        return ""
    if code is None:
        return f"its import takes longer than {seconds:g} s"
    if code < 0:
        return f"its import ends the process ({signal.Signals(-code).name})"
    return f"its import ends the process (exit code {code})"


def _memory(point: EntryPoint) -> Path:
    hashed = hashlib.sha256(repr((point[1:], sys.version)).encode())
    for name, size, changed in _files(point.module):
        hashed.update(f"{name} {size} {changed}\0".encode())
    return user_cache.probed_plugins() / hashed.hexdigest()


def _files(module: str) -> list[tuple[str, int, int]]:
    """The path, size and modification time of each file of the plugin's topmost package."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is None:
        return []
    folders = list(spec.submodule_search_locations or ())
    paths = [
        path for folder in folders for path in Path(folder).rglob("*") if "__pycache__" not in path.parts
    ]
    if not folders and spec.origin is not None:
        paths = [Path(spec.origin)]
    stats = [(str(path), path.stat()) for path in sorted(paths) if path.is_file()]
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
