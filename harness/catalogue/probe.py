"""Whether importing a stranger's plugin would end or hang this process: tried once, in a child.

The answer is remembered in the user's cache folder, by what the plugin's files are now, so that a
command pays for it only after the plugin changed.
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

SURVIVED = 77  # no interpreter ends with this by itself
SECONDS = 60.0  # for an import on a busy machine
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
    """How the plugin's import ends a process; None if it does not."""
    memory = _memory(point)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return _advised(memory.read_text(encoding="utf-8"), memory)
    crash = _tried(point, seconds) or ""
    with contextlib.suppress(OSError):  # without a place to remember, it is tried each time
        memory.parent.mkdir(parents=True, exist_ok=True)
        beside = memory.with_name(f"{memory.name}.{os.getpid()}")
        beside.write_text(crash, encoding="utf-8")
        beside.replace(memory)
    return _advised(crash, memory)


def _advised(crash: str, memory: Path) -> str | None:
    return f"{crash}; remove {memory} to try it again" if crash else None


def _tried(point: EntryPoint, seconds: float) -> str | None:
    command = [sys.executable, "-c", PROGRAM, point.value, point.distribution, *sys.path]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that what it starts ends with it
    )
    try:
        code = child.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"its import takes longer than {seconds:g} s"
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if code == SURVIVED:
        return None
    if code < 0:
        return f"its import ends the process ({signal.Signals(-code).name})"
    return f"its import ends the process (exit code {code})"


def _memory(point: EntryPoint) -> Path:
    hashed = hashlib.sha256(repr((point[1:], sys.version)).encode())
    for name, size, changed in _files(point.module):
        hashed.update(f"{name} {size} {changed}\0".encode())
    return user_cache.probed_plugins() / hashed.hexdigest()


def _files(module: str) -> list[tuple[str, int, int]]:
    """The path, size and time of change of each file of the plugin's topmost package."""
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
