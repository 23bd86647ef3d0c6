"""The local engine: executes the plan's steps in worker processes, several at once, and survives them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from typing import IO, NamedTuple

import orjson

from harness.errors import StoreError
from harness.plan import Plan, Step
from harness.progress import Reporter
from harness.store import Store
from harness.types import JSON

BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from harness.worker import main; main(sys.argv[2], int(sys.argv[3]))"
)
LOG_TAIL = 20_000  # bytes of a step's output that are kept when it fails
REBUILDS = 3  # of one damaged artifact in one run


class Failure(NamedTuple):
    """Why a step has no result."""

    step: str  # the id of the step that failed first
    reason: str
    user: bool  # a user's mistake (bad data), not a plugin's fault


class Result(NamedTuple):
    executed: tuple[str, ...]  # ids of the steps that were done now
    failures: dict[str, Failure]  # by id, of the steps that failed and of those that build on them


class Worker:
    """One child process and the pipes to it. A step that fails or is stopped leaves it usable or dead."""

    def __init__(self, store: Store, threads: int) -> None:
        self.store = store
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", BOOT, orjson.dumps(sys.path).decode(), str(store.root), str(write_end)],
            stdin=subprocess.PIPE,
            stdout=self.log,
            stderr=self.log,
            pass_fds=(write_end,),
            start_new_session=True,  # its own group, so that all that it starts can be killed with it
            env=_environment(store, threads),
        )
        os.close(write_end)
        assert self.process.stdin is not None
        self.input = self.process.stdin
        self.events = os.fdopen(read_end, "rb", buffering=0)
        self.pending = b""

    def send(self, step: Step) -> None:
        request = {"id": step.id, "kind": step.kind, "work": step.work, "described": step.described}
        self.input.write(orjson.dumps(request) + b"\n")
        self.input.flush()

    def event(self, timeout: float | None) -> JSON:
        """The next event; None when the time is up; `{"event": "died"}` when there will be none."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self.pending:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            if not select.select([self.events], [], [], left)[0]:
                return None
            data = self.events.read(65536)
            if not data:
                return {"event": "died"}
            self.pending += data
        first, _, self.pending = self.pending.partition(b"\n")
        return orjson.loads(first)

    def kill(self) -> None:
        """End the process and all that it started; whoever waits for an event hears that it died."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self.process.wait()
        self.events.close()
        self.log.close()
        with contextlib.suppress(BrokenPipeError):
            self.input.close()

    def output(self, start: int = 0) -> str:
        """What the child printed since that offset, the end of it."""
        end = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(start, end - LOG_TAIL))
        return self.log.read().decode("utf-8", "replace").strip()

    def cause(self) -> str:
        """Why it died, in a user's words."""
        code = self.process.wait()
        last = self.output().splitlines()
        if code == -signal.SIGKILL:
            return "its process was killed (out of memory?)"
        if code < 0:
            return f"its process died of {signal.Signals(-code).name}"
        return f"its process ended with code {code}" + (f" ({last[-1]})" if last else "")


class Local:
    """Runs the steps of a plan that are not in the store, with `jobs` workers."""

    def __init__(self, plan: Plan, store: Store, jobs: int, reporter: Reporter) -> None:
        self.plan = plan
        self.store = store
        self.jobs = jobs
        self.reporter = reporter
        self.threads = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
        self.state = threading.Condition()
        self.todo: dict[str, None] = {}  # in order of the plan
        self.running: set[str] = set()
        self.failures: dict[str, Failure] = {}
        self.executed: list[str] = []
        self.workers: set[Worker] = set()
        self.rebuilt: dict[str, int] = {}  # how often a step was made again
        self.stopped: BaseException | None = None

    def run(self, targets: Iterable[str]) -> Result:
        """Make every target (and what it needs) an artifact. Raises StoreError when the disk is full;
        on any exception no child is left."""
        for target in targets:
            self._want(target)
        threads = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(self.jobs, len(self.todo)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():  # a join without a time would not be interrupted by Ctrl-C
                    thread.join(0.2)
        except BaseException as error:
            self._stop(error)
            raise
        finally:
            for thread in threads:
                thread.join()
            for worker in self.workers:
                worker.close()
        if self.stopped is not None:
            raise self.stopped
        return Result(tuple(self.executed), dict(self.failures))

    # what is to do

    def _want(self, target: str) -> None:
        if self.store.has(target) or target in self.todo:
            return
        for below in self.plan.steps[target].inputs:
            self._want(below)
        self.todo[target] = None

    def _next(self) -> Step | None:
        """A step whose inputs are there; waits for one; None when all is done."""
        with self.state:
            while self.stopped is None:
                self._fail_dependents()
                waiting = [step for step in self.todo if step not in self.running]
                if not waiting:
                    if not self.running:
                        return None
                else:
                    for step in waiting:
                        if not any(below in self.todo for below in self.plan.steps[step].inputs):
                            self.running.add(step)
                            return self.plan.steps[step]
                self.state.wait(0.5)
            return None

    def _fail_dependents(self) -> None:
        for step in list(self.todo):
            for below in self.plan.steps[step].inputs:
                if below in self.failures and step not in self.failures:
                    self.failures[step] = self.failures[below]
                    self.todo.pop(step, None)

    # one thread for each worker

    def _work(self) -> None:
        worker: Worker | None = None
        try:
            while (step := self._next()) is not None:
                if worker is None:
                    worker = Worker(self.store, self.threads)
                    self.workers.add(worker)
                worker = self._execute(step, worker)
        except BaseException as error:
            self._stop(error)

    def _execute(self, step: Step, worker: Worker) -> Worker | None:
        """Do one step; returns the worker if it can go on."""
        offset = worker.log.seek(0, os.SEEK_END)
        deadline: float | None = None
        try:
            worker.send(step)
        except BrokenPipeError:
            return self._lost(step, worker, worker.cause())
        while True:
            event = worker.event(None if deadline is None else deadline - time.monotonic())
            if event is None:
                return self._lost(
                    step, worker, f"took longer than the timeout of {self.plan.suite.timeout:g} s"
                )
            kind = event["event"]
            if kind == "started":
                if self.plan.suite.timeout is not None:
                    deadline = time.monotonic() + self.plan.suite.timeout
                self.reporter.started(step)
            elif kind == "waiting":
                self.reporter.note(f"{step.label}: another run is doing this; waiting for it")
            elif kind == "progress":
                self.reporter.progress(step, event["done"], event["total"])
            elif kind == "done":
                self._done(step, event["reused"])
                return worker
            elif kind == "corrupt":
                self._rebuild(step, event["step"], event["reason"])
                return worker
            elif kind == "stop":
                raise StoreError(event["message"])
            elif kind == "failed":
                self._failed(step, event["reason"], event["user"], worker.output(offset))
                return worker
            else:
                return self._lost(step, worker, worker.cause())

    def _lost(self, step: Step, worker: Worker, reason: str) -> Worker | None:
        worker.kill()
        if self.stopped is None:
            self._failed(step, reason, False, worker.output())
        return None

    def _done(self, step: Step, reused: bool) -> None:
        self.reporter.done(step, reused)
        with self.state:
            if not reused:
                self.executed.append(step.id)
            self._remove(step)

    def _failed(self, step: Step, reason: str, user: bool, output: str) -> None:
        self.reporter.failed(step, reason)
        if output and not user:
            log = self.store.failures / f"{step.id}.log"
            with contextlib.suppress(OSError):
                log.write_text(output + "\n")
                self.reporter.note(f"{step.label}: its output is in {log}")
        with self.state:
            named = reason if user else f"{step.label}: {reason}"
            self.failures[step.id] = Failure(step.id, named, user)
            self._remove(step)

    def _rebuild(self, step: Step, corrupt: str, reason: str) -> None:
        """An input was not what had been written: make it, and then this step, again."""
        below = self.plan.steps[corrupt]
        self.rebuilt[corrupt] = self.rebuilt.get(corrupt, 0) + 1
        if self.rebuilt[corrupt] > REBUILDS:
            self._failed(step, f"{below.label} is damaged again and again; check the disk", False, "")
            return
        self.reporter.note(f"{below.label}: {reason}; it is made again")
        with self.state:
            self.running.discard(step.id)
            if corrupt not in self.todo:
                self.store.discard(corrupt)
                before = dict(self.todo)
                self.todo.clear()
                self._want(corrupt)
                self.todo.update(before)
            self.reporter.more(len(self.todo))
            self.state.notify_all()

    def _remove(self, step: Step) -> None:
        self.todo.pop(step.id, None)
        self.running.discard(step.id)
        self.state.notify_all()

    def _stop(self, error: BaseException) -> None:
        with self.state:
            if self.stopped is None:
                self.stopped = error
            self.state.notify_all()
        for worker in list(self.workers):
            worker.kill()


def _environment(store: Store, threads: int) -> dict[str, str]:
    """The child's: threads fixed by the plan, compiled code kept in the store."""
    counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}
    compiled = {"NUMBA_CACHE_DIR": str(store.compiled), "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return {**os.environ, **counts, **compiled}


def missing_needs(plan: Plan, store: Store, targets: Iterable[str]) -> list[str]:
    """What is not here and a run of these targets would need: files and packages, each once."""
    open_steps: dict[str, None] = {}

    def visit(step: str) -> None:
        if step not in open_steps and not store.has(step):
            open_steps[step] = None
            for below in plan.steps[step].inputs:
                visit(below)

    for target in targets:
        visit(target)
    return list(dict.fromkeys(need for step in open_steps for need in plan.steps[step].needs))
