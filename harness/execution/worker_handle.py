"""The engine's handle of a worker process: it sends requests, and receives events and printed output."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import orjson

from harness import user_cache
from harness.execution import process_family, process_memory
from harness.store.artifacts import Store
from harness.types import JSON

BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from harness.execution.worker_main import main; main(sys.argv[2], int(sys.argv[3]))"
)
OUTPUT_TAIL = 20_000  # bytes that are kept of the end of a step's output, in case the step fails
TICK = 0.5  # seconds between two checks that the process is alive
MEMORY_TICK = 0.1  # seconds between two checks of its memory
STACK_SECONDS = 15.0  # time that the process gets to print its Python stack, sufficient on a busy machine
# how the stack of each thread begins, and how that of the main thread ends, which is printed last
STACK_BEGINS, STACK_ENDS = b"(most recent call first)", b'File "<string>", line 1 in <module>'
CUT_SECONDS = 2.0  # a stack that is so deep that it has no end is taken to be printed after this time
ENDING_SECONDS = 60.0  # time that a process gets to end once it gives up its memory
DIED = {"event": "died"}


class Child:
    """One worker process and the pipes to it. One thread uses it; another thread may only call `kill`."""

    def __init__(self, store: Store, threads: int) -> None:
        read_end, write_end = os.pipe()
        self.mark = uuid.uuid4().hex
        try:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    BOOT,
                    orjson.dumps(sys.path).decode(),
                    str(store.root),
                    str(write_end),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                pass_fds=(write_end,),
                start_new_session=True,  # a process group of its own: all processes it starts die with it
                env={**_environment(store, threads), process_family.MARK: self.mark},
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests = self.process.stdin
        self.prints = self.process.stdout
        self.events = os.fdopen(read_end, "rb", buffering=0)
        self.silent = False  # whether the process closed its output
        self.pending = b""
        self.printed = b""
        self.steps = 0  # steps that the process has begun

    def send(self, request: bytes) -> None:
        """Send an encoded request. If the process is dead, the next call of `event` says so."""
        self.printed = b""
        data = memoryview(request + b"\n")
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[self.requests.write(data) or 0 :]

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        """The next event of the process; None after `timeout` seconds without one. The event is
        `{"event": "died"}` when the process has ended, and `{"event": "memory"}` when its processes hold
        more than `memory` gigabytes."""
        deadline = None if timeout is None else time.monotonic() + timeout
        tick = TICK if memory is None else MEMORY_TICK
        look = 0.0
        while b"\n" not in self.pending:
            if memory is not None and time.monotonic() > look:
                look = time.monotonic() + MEMORY_TICK  # not at every piece of output
                if process_memory.exceeds(self.process.pid, memory):
                    return {"event": "memory"}
            left = tick if deadline is None else min(tick, deadline - time.monotonic())
            if left <= 0:  # what has come counts, even if this thread could not look in time
                if self._listen(0):
                    continue
                return None
            # The process is polled before the pipe is read: if it is dead, all its events are in the pipe.
            # The end of the pipe is no sure sign, because a process that it started may hold the pipe open.
            dead = self.process.poll() is not None
            if not self._listen(0 if dead else left) and (dead or self.events.closed):
                return DIED
        first, _, self.pending = self.pending.partition(b"\n")
        try:
            return orjson.loads(first)
        except orjson.JSONDecodeError:  # the plugin wrote to a descriptor that is not its own
            return DIED

    def _listen(self, seconds: float) -> bool:
        """Read what is in the pipes or arrives within these seconds. Returns whether events were read."""
        ready = _ready([self.events] if self.silent else [self.events, self.prints], seconds)
        if self.prints in ready:
            self._hear()
        if self.events not in ready:
            return False
        data = os.read(self.events.fileno(), 65536)
        self.pending += data
        if not data:
            self.events.close()
        return bool(data)

    def _hear(self) -> None:
        data = os.read(self.prints.fileno(), 65536)
        self.printed = (self.printed + data)[-OUTPUT_TAIL:]
        self.silent = not data

    def output(self) -> str:
        """The end of what the process printed since the last request."""
        for _ in range(64):  # a pipe holds no more; later output is of a process outside the killed group
            if self.silent or not _ready([self.prints], 0):
                break
            self._hear()
        return self.printed.decode("utf-8", "replace").strip()

    def cause(self) -> str:
        """The reason why the process died, in words for a user."""
        try:
            code = self.process.wait(timeout=ENDING_SECONDS if self._is_ending() else TICK)
        except subprocess.TimeoutExpired:
            return "its process closed its pipe to the harness"
        last = self.output().splitlines()
        if code == -signal.SIGKILL:
            return "its process was killed (out of memory?)"
        if code < 0:
            return f"its process died of {signal.Signals(-code).name}"
        return f"its process ended with code {code}" + (f" ({last[-1]})" if last else "")

    def print_stack(self) -> None:
        """Have the process print the stacks of its threads, and read them. They show why a step hangs."""
        self.ask_for_stack()
        began = time.monotonic()
        while not self.silent and not has_stack(self.printed, time.monotonic() - began):
            dead = self.process.poll() is not None
            if _ready([self.prints], 0 if dead else TICK):
                self._hear()
            elif dead:
                return

    def _is_ending(self) -> bool:
        """Whether the process is ending, though it cannot be waited for yet. A process gives up its memory,
        and with it its command line, before its pipes."""
        try:
            return not Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        except OSError:  # not Linux
            return False

    def ask_for_stack(self) -> None:
        """Have the process print the stacks of its threads, without waiting for them."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """Kill the process and all processes that it started. A thread that waits in `event` gets `died`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.process.returncode is None:  # a process that was waited for may have lost its number
                os.kill(self.process.pid, signal.SIGSTOP)
                process_family.kill_below(self.process.pid)
            os.killpg(self.process.pid, signal.SIGKILL)
        process_family.kill_marked(self.mark)

    def close(self) -> None:
        self.kill()
        self.process.wait()
        for pipe in (self.requests, self.prints, self.events):
            pipe.close()


def _ready(pipes: Sequence[IO[bytes]], seconds: float) -> list[IO[bytes]]:
    """Those of the pipes that can be read, or have ended, at the latest after these seconds. `select.select`
    would refuse the descriptors of a process that has more than 1,024 files open."""
    poll = select.poll()
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    descriptors = {descriptor for descriptor, _ in poll.poll(seconds * 1000)}
    return [pipe for pipe in pipes if pipe.fileno() in descriptors]


def has_stack(printed: bytes, waited: float) -> bool:
    """Whether a process, asked for its stacks `waited` seconds ago, has printed them or never will."""
    begun = STACK_BEGINS in printed and waited > CUT_SECONDS
    return begun or STACK_ENDS in printed or waited > STACK_SECONDS


def _environment(store: Store, threads: int) -> dict[str, str]:
    """The environment of a worker process. The number of threads is `threads`. Numba keeps compiled code in a
    folder that all stores share, unless the user sets NUMBA_CACHE_DIR."""
    counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
    fixed = {**counts, "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return {"NUMBA_CACHE_DIR": str(_compiled_folder(store)), **os.environ, **fixed}


def _compiled_folder(store: Store) -> Path:
    """The folder of compiled code: in the user's cache folder, or in the store if that cannot be written.
    Numba itself checks that the code was compiled for this CPU and from this source."""
    shared = user_cache.compiled_code()
    try:
        shared.mkdir(parents=True, exist_ok=True)
    except OSError:
        return store.compiled
    return shared if os.access(shared, os.W_OK) else store.compiled
