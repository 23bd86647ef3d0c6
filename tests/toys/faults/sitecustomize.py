"""Put on PYTHONPATH, makes the n-th change of the disk by a `harness run` fail, or the process die at it.

FAULT_COUNTS names a file to which every change adds one line, over all processes of the run.
FAULT_AT is the number of the change (from 1) that FAULT_KIND happens at: `before` and `after` kill the
process group of whoever does it, an errno's name is raised instead of the change.

KILL_WORKERS_BETWEEN_STEPS makes the parent kill its worker whenever a step is done.

READS names a file to which a worker adds a line for each step: its record, and what it opened below READ_FROM.
"""

import atexit
import errno
import fcntl
import os
import signal
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# what the store calls, and what Python's own file functions call below it
DISK = ("write", "fsync", "rename", "remove_tree")


def _number(what: str) -> int:
    """Which change this is, counted over all processes."""
    descriptor = os.open(os.environ["FAULT_COUNTS"], os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, f"{what}\n".encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, 1 << 20).count(b"\n")
    finally:
        os.close(descriptor)


def _die() -> None:
    atexit._clear()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _faulty(what: str, change: Callable[..., Any]) -> Callable[..., Any]:
    at, kind = int(os.environ.get("FAULT_AT", "0")), os.environ.get("FAULT_KIND", "")

    def changed(*arguments: Any, **named: Any) -> Any:
        here = _number(what) == at
        if here and kind == "before":
            _die()
        if here and kind.startswith("E"):
            raise OSError(getattr(errno, kind), os.strerror(getattr(errno, kind)))
        result = change(*arguments, **named)
        if here and kind == "after":
            _die()
        return result

    return changed


def _patch_disk(disk: Any) -> None:
    for what in DISK:
        setattr(disk, what, _faulty(what, getattr(disk, what)))


def _patch_engine(engine: Any) -> None:
    done = engine.Engine._done

    def killing(self: Any, step: Any, *rest: Any) -> None:
        for child in self.children:
            child.kill()
            child.process.wait()
        done(self, step, *rest)

    engine.Engine._done = killing


def _patch_worker(worker_main: Any) -> None:
    import json

    sys.path.append(str(Path(__file__).parents[2]))
    from opened_files import opened

    outcome = worker_main._outcome

    def noting(task: Any, *rest: Any) -> Any:
        try:
            with opened(Path(os.environ["READ_FROM"])) as files:
                return outcome(task, *rest)
        finally:
            read = {"step": task.whole, "keyed": task.record.keyed, "inputs": task.record.inputs}
            with Path(os.environ["READS"]).open("a") as file:
                file.write(json.dumps({**read, "opened": sorted(map(str, files))}) + "\n")

    worker_main._outcome = noting


class _Patch:
    """Loads a module as it is, and patches it before anyone uses it."""

    def __init__(self, module: str, patch: Callable[[Any], None]) -> None:
        self.module, self.patch = module, patch

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            self.patch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if "FAULT_COUNTS" in os.environ:
    sys.meta_path.insert(0, _Patch("harness.store.disk", _patch_disk))  # type: ignore[arg-type]
if "KILL_WORKERS_BETWEEN_STEPS" in os.environ:
    sys.meta_path.insert(0, _Patch("harness.execution.engine", _patch_engine))  # type: ignore[arg-type]
if "READS" in os.environ:
    sys.meta_path.insert(0, _Patch("harness.execution.worker_main", _patch_worker))  # type: ignore[arg-type]
