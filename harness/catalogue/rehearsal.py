"""Tries planning's calls of other authors' plugins in a child process, because a call may end its process.

If a call raises an error, the planner makes the same call and reports the error. Calls that returned are
remembered in the user's cache folder, by the plugin's code and the parameters, so that each is tried only
once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness import user_cache
from harness.catalogue import KINDS, OWN, Entry, entry_points, params
from harness.types import Facts, Part

START = 180.0  # seconds for the child's imports, sufficient on a busy machine
STEP = 0.1  # seconds between two checks whether the child lives
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from harness.catalogue import rehearsal; rehearsal.serve()"
PLAIN = ("missing_files", "depends_on", "unkeyed", "libraries_by_param", "feedback", "parts")
READY, RETURNED, RAISED = "ready", "returned", "raised"


class Request(NamedTuple):
    """The record and the parameters with which the child makes its calls."""

    distribution: str
    plugin: str
    kind: str
    record: str
    pickled: bytes  # the parameters and the facts, which need the plugin's module to be unpickled


class Rehearsals:
    """The child process of one planning. The child is started for the first call that is not remembered."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._child: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def crash_of(self, entry: Entry, code: str, values: Any, facts: Facts | None = None) -> str | None:
        """How the calls of a record end or hang a process, or None if they do not. `code` is the digest of
        the plugin's sources."""
        if entry.plugin.distribution == OWN:
            return None
        kind = next(kind for kind, record in KINDS.items() if type(entry.record) is record)
        try:
            pickled = pickle.dumps((values, facts))
        except Exception:  # parameters of a local class cannot be sent to the child
            return None
        plugin = entry.plugin
        request = Request(plugin.distribution, plugin.name, kind, entry.record.name, pickled)
        memory = user_cache.probed_plugins() / f"calls-{_digest(code, sys.version)}"
        line = _digest(*request[:4], values, facts, [_state(path) for path in params.paths_in(values)])
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if line in memory.read_text(encoding="utf-8").split():
                return None
        crash, returned = self._tried(request)
        if returned:
            with contextlib.suppress(OSError):  # if the result cannot be saved, the calls are tried each time
                memory.parent.mkdir(parents=True, exist_ok=True)
                with memory.open("a", encoding="utf-8") as lines:
                    lines.write(f"{line}\n")
        return crash

    def close(self) -> None:
        if self._child is None or self._errors is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._child = self._errors = None

    def _tried(self, request: Request) -> tuple[str | None, bool]:
        """How the calls end or hang the child, and whether all of them returned."""
        try:
            child = self._sent(request)
        except OSError:
            self.close()  # the child has ended after an earlier call
            child = self._sent(request)
        call, seconds = "the import", START
        try:
            while True:
                word = self._word(child, seconds)
                if word in (RETURNED, RAISED):
                    return None, word == RETURNED
                if word in ("", None):
                    break
                if word != READY:
                    call, seconds = word, self._timeout or float("inf")
            if word is None:
                crash = f"took longer than the timeout of {seconds:g} s in {call} while planning"
            else:
                crash = f"ended the process in {call} while planning ({_ending(child.wait(START))})"
            self._show_stack()
        except BaseException:  # Ctrl-C
            self.close()
            raise
        self.close()
        return crash, False

    def _sent(self, request: Request) -> subprocess.Popen[bytes]:
        child = self._child or self._started()
        assert child.stdin is not None
        child.stdin.write(pickle.dumps(tuple(request)))
        return child

    def _started(self) -> subprocess.Popen[bytes]:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- `close` closes it
        self._child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,  # so that `select` sees every word that is not read yet
            start_new_session=True,  # so that processes that the child starts end with it
        )
        return self._child

    def _word(self, child: subprocess.Popen[bytes], seconds: float) -> str | None:
        """The next word of the child, "" if the child has ended, or None if the word takes too long."""
        assert child.stdout is not None
        deadline = time.monotonic() + seconds
        while True:
            ended, late = child.poll() is not None, time.monotonic() >= deadline
            # a word that has come counts, even if this process could not look in time
            if select.select([child.stdout], [], [], 0 if ended or late else STEP)[0]:
                return child.stdout.readline().decode().strip()
            if ended or late:
                return "" if ended else None

    def _show_stack(self) -> None:
        """Print the stack of the plugin when it ended the process, as Python's fault handler wrote it."""
        if self._errors is not None:
            self._errors.seek(0)
            print(self._errors.read()[-4000:].decode(errors="replace"), end="", file=sys.stderr)


def serve() -> None:
    """Run the child's loop, which makes the requested calls. It ends with its parent, even within a call."""
    import faulthandler

    from harness import catalogue, hookspecs

    requests, words = os.fdopen(os.dup(0), "rb"), os.dup(1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    faulthandler.enable()
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()

    def tell(word: str) -> None:
        os.write(words, f"{word}\n".encode())

    points = {(point.distribution, point.name): point for point in entry_points.find(hookspecs.PROJECT)}
    while True:
        request = waiting.get()
        try:
            point = points[request.distribution, request.plugin]
            records = catalogue._records(catalogue._manager(), point)
            record = next(each for kind, each in records if (kind, each.name) == request[2:4])
            values, facts = pickle.loads(request.pickled)
            tell(READY)
            _call(record, request.kind, values, facts, tell)
        except BaseException:  # the parent makes the same call and reports the error
            tell(RAISED)
        else:
            tell(RETURNED)


def _receive(requests: IO[bytes], waiting: queue.SimpleQueue[Request]) -> None:
    with contextlib.suppress(Exception):
        while True:
            waiting.put(Request(*pickle.load(requests)))
    os._exit(0)


def _call(record: Any, kind: str, values: Any, facts: Facts | None, tell: Callable[[str], None]) -> None:
    """Make the calls that planning makes, and tell the name of each call before it."""
    if facts is not None and record.resolve is not None:
        tell("resolve")
        values = record.resolve(values, facts)
    for name in PLAIN:
        function = getattr(record, name, None)
        if function is not None:
            tell(name)
            answer = function(values)
            if name == "missing_files" and list(answer) and kind == "datasets":
                raise FileNotFoundError  # so that the calls are tried again when the files are here
            if name in ("depends_on", "parts"):
                list(answer)
    if kind == "datasets":
        tell("build")
        source = record.build(values)
        tell("card")
        source.card()
        for part in typing.get_args(Part):
            tell("inputs")
            source.inputs(part)


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _state(path: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        stat = path.stat()
        return stat.st_size, stat.st_mtime_ns
    return None


def _digest(*values: Any) -> str:
    return hashlib.sha256(repr(values).encode(errors="replace")).hexdigest()
