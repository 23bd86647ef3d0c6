"""A worker process as the engine sees it: requests go in, events and what it prints come out."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from harness import user_cache
from harness.execution import process_memory
from harness.plan.graph import Step
from harness.store import responses
from harness.store.artifacts import Store
from harness.types import JSON

BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from harness.execution.worker_main import main; main(sys.argv[2], int(sys.argv[3]))"
)
OUTPUT_TAIL = 20_000  # bytes of a step's output that are kept, for when it fails
TICK = 0.5  # seconds between two looks at whether the process lives
MEMORY_TICK = 0.1  # between two looks at its memory
STACK_SECONDS = 0.5  # to print the Python stack in
DIED = {"event": "died"}
Ask: TypeAlias = Literal["result", "blocks"]


def request_of(step: Step, ask: Ask) -> dict[str, JSON]:
    """What a worker process is asked."""
    return {"ask": ask, "id": step.id, "kind": step.kind, "work": step.work, "described": step.described}


class Child:
    """One process and the pipes to it, used by one thread; only `kill` may be called from another."""

    def __init__(self, store: Store, threads: int) -> None:
        read_end, write_end = os.pipe()
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
                start_new_session=True,  # its own group, so that all that it starts can be killed with it
                env=_environment(store, threads),
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
        self.silent = False  # it closed what it prints to
        self.pending = b""
        self.printed = b""
        self.steps = 0  # that it has begun

    def send(self, step: Step, ask: Ask = "result") -> None:
        """Ask for a step, or into how many blocks it can be cut."""
        self.request(request_of(step, ask))

    def request(self, request: Mapping[str, JSON]) -> None:
        """A process that is dead is found by the next `event`."""
        self.printed = b""
        data = memoryview(orjson.dumps(request) + b"\n")
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[self.requests.write(data) or 0 :]

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        """The next event; None when the time is up; `{"event": "died"}` when there will be none;
        `{"event": "memory"}` when the process group holds more than `memory` gigabytes."""
        deadline = None if timeout is None else time.monotonic() + timeout
        tick = TICK if memory is None else MEMORY_TICK
        look = 0.0
        while b"\n" not in self.pending:
            if memory is not None and time.monotonic() > look:
                look = time.monotonic() + MEMORY_TICK  # not at every piece of what it prints
                if process_memory.exceeds(self.process.pid, memory):
                    return {"event": "memory"}
            left = tick if deadline is None else min(tick, deadline - time.monotonic())
            if left <= 0:
                return None
            # asked before looking at the pipe: whatever it said before it died is then in there. A process
            # that it left behind may hold the pipe open, so its end is no sure sign
            dead = self.process.poll() is not None
            if not self._listen(0 if dead else left) and (dead or self.events.closed):
                return DIED
        first, _, self.pending = self.pending.partition(b"\n")
        try:
            return orjson.loads(first)
        except orjson.JSONDecodeError:  # the plugin wrote to a descriptor that is not its own
            return DIED

    def _listen(self, seconds: float) -> bool:
        """Read what there is, or comes within that time; whether there was an event in it."""
        ready = select.select([self.events] if self.silent else [self.events, self.prints], [], [], seconds)[
            0
        ]
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
        """The end of what was printed since the last step was sent."""
        for _ in range(64):  # no pipe holds more; what still prints has left the group
            if self.silent or not select.select([self.prints], [], [], 0)[0]:
                break
            self._hear()
        return self.printed.decode("utf-8", "replace").strip()

    def cause(self) -> str:
        """Why it died, in a user's words."""
        try:
            code = self.process.wait(timeout=TICK)
        except subprocess.TimeoutExpired:
            return "its process closed its pipe to the harness"
        last = self.output().splitlines()
        if code == -signal.SIGKILL:
            return "its process was killed (out of memory?)"
        if code < 0:
            return f"its process died of {signal.Signals(-code).name}"
        return f"its process ended with code {code}" + (f" ({last[-1]})" if last else "")

    def print_stack(self) -> None:
        """Have it print where its threads are, for whoever wonders why it did not end."""
        self.ask_for_stack()
        until = time.monotonic() + STACK_SECONDS
        while not self.silent and (left := until - time.monotonic()) > 0:
            if select.select([self.prints], [], [], left)[0]:
                self._hear()

    def ask_for_stack(self) -> None:
        """The same without waiting for it."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the process and all that it started; whoever waits for an event hears that it died."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self.process.wait()
        for pipe in (self.requests, self.prints, self.events):
            pipe.close()


def _environment(store: Store, threads: int) -> dict[str, str]:
    """The child's: threads fixed by the plan. Compiled code is kept where all stores share it, unless the
    user says where."""
    counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
    fixed = {**counts, "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    fixed[responses.FOLDER] = str(store.responses)
    return {"NUMBA_CACHE_DIR": str(_compiled_folder(store)), **os.environ, **fixed}


def _compiled_folder(store: Store) -> Path:
    """In the user's cache folder; in the store where that cannot be written. Numba finds by itself whether
    code was compiled for this CPU, from this source."""
    shared = user_cache.compiled_code()
    try:
        shared.mkdir(parents=True, exist_ok=True)
    except OSError:
        return store.compiled
    return shared if os.access(shared, os.W_OK) else store.compiled
