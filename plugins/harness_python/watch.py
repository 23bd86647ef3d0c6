"""Watches a Python function while it is called: what it opens, connects to, starts and draws."""

from __future__ import annotations

import functools
import os
import random
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX
from types import FrameType
from typing import Any

from harness_python.impure import FILES, PROGRAMS, RANDOM, SERVICES

# Facts about the machine and data of installed packages, which libraries read by themselves.
SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib/", "/lib64/")
# code, and caches that are made of a package alone
CODE = (".py", ".pyc", ".so", ".nbi", ".nbc", ".pth", "jieba.cache")
HELPERS = {"lscpu", "uname", "ldconfig", "gcc", "cc", "ld", "objdump", "nvidia-smi", "sysctl", "lsb_release"}


class Watch:
    """An audit hook of this process. It hears nothing while no function is called."""

    def __init__(self) -> None:
        self._noted: set[str] | None = None
        self._others: set[int] = set()  # the threads that are not the function's
        paths = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
        self._packages = tuple(f"{os.path.realpath(path)}/" for path in sorted(paths))
        sys.addaudithook(self._hear)

    @contextmanager
    def during(self, noted: set[str], seeded: bool) -> Iterator[None]:
        """Adds to `noted` what the calls in the block do. `seeded` says that the function sets the state of
        the generators that it draws from."""
        before = {} if seeded or RANDOM in noted else _states()
        known = {thread.ident for thread in threading.enumerate() if thread.ident is not None}
        self._others = known - {threading.get_ident()}
        self._noted = noted
        try:
            yield
        finally:
            self._noted = None
        if before and any(before.get(name, state) != state for name, state in _states().items()):
            noted.add(RANDOM)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        noted = self._noted
        if noted is None or threading.get_ident() in self._others:
            return
        if event == "open":
            if FILES not in noted and self._reads(*arguments) and not _imports():
                noted.add(FILES)
        elif event == "socket.connect":
            if arguments[0].family != AF_UNIX:  # through which processes of one library talk
                noted.add(SERVICES)
        elif event == "socket.getaddrinfo":
            noted.add(SERVICES)
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn"):
            program = arguments[0] if event != "subprocess.Popen" else (arguments[1] or arguments[:1])
            first = program if isinstance(program, str | bytes | os.PathLike) else next(iter(program), "")
            if Path(os.fsdecode(first).split(" ")[0]).name not in HELPERS and not _imports():
                noted.add(PROGRAMS)

    def _reads(self, path: Any, mode: str | None, flags: int) -> bool:
        """Whether a file of the user is opened to be read."""
        if not isinstance(path, str | bytes | os.PathLike):
            return False  # a descriptor
        if mode is not None and not ("r" in mode or "+" in mode):
            return False
        if mode is None and flags & os.O_ACCMODE == os.O_WRONLY:
            return False
        name = os.path.realpath(os.fsdecode(path))
        return (
            not name.startswith((*SYSTEM, *self._packages))
            and "-packages/" not in name  # of another environment on the path
            and not name.endswith(CODE)
            and Path(name).is_file()
        )


@functools.cache
def watch() -> Watch:
    """The one watch of this process, because an audit hook stays for ever."""
    return Watch()


def _imports() -> bool:
    """Whether the call stands in the import of a module, which may read the module's own data."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _states() -> Mapping[str, object]:
    """The states of the random generators that a whole process shares."""
    states: dict[str, object] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        _, keys, place, *rest = sys.modules["numpy"].random.get_state()
        states["numpy"] = (keys.tobytes(), place, *rest)
    if "torch" in sys.modules:
        states["torch"] = sys.modules["torch"].get_rng_state().numpy().tobytes()
    return states
