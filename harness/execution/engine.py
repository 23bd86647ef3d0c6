"""The engine: executes the plan's steps on workers, several at once, and goes on when a worker dies."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import StoreError
from harness.execution import parts, requests
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure, Idle, Schedule
from harness.execution.workers import Worker, Workers
from harness.plan.graph import Step
from harness.problems import Need
from harness.steps import PartOfStep
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.suite import Suite
from harness.types import JSON


class StepLimits(NamedTuple):
    """The limits of one step; None is no limit."""

    timeout: float | None = None  # seconds, without the time that numba spends compiling
    memory: float | None = None  # gigabytes that the step's process and all processes started by it may hold


NO_LIMITS = StepLimits()
MOVES = 3  # how often one step is moved to another machine
# the events after which a child goes on with its step
UNDERWAY = ("started", "compiling", "compiled", "waiting", "again", "note", "progress")


def limits_of(suite: Suite) -> StepLimits:
    return StepLimits(suite.timeout, suite.memory)


class Result(NamedTuple):
    executed: tuple[str, ...]  # ids of the steps that were executed in this run
    failures: dict[str, Failure]  # step id -> failure, for the failed steps and all steps that read them


class Clock:
    """The time left of a timeout. A new clock stands still until `go_on` is called."""

    def __init__(self, timeout: float | None) -> None:
        self._remaining = timeout
        self._since: float | None = None

    def left(self) -> float | None:
        """The seconds left; None if there is no limit, or while the clock stands still."""
        if self._remaining is None or self._since is None:
            return None
        return max(0.0, self._remaining - (time.monotonic() - self._since))

    def go_on(self) -> None:
        if self._since is None:
            self._since = time.monotonic()

    def pause(self) -> None:
        if self._since is not None:
            self._remaining, self._since = self.left(), None


class Engine:
    """Executes the steps that the store lacks."""

    def __init__(
        self, steps: Mapping[str, Step], store: Store, workers: Workers, reporter: Reporter,
        limits: StepLimits = NO_LIMITS,
    ) -> None:  # fmt: skip
        self.steps = steps  # id -> step; contains every step that another one reads
        self.limits = limits
        self.store = store
        self.workers = workers
        self.reporter = reporter
        self.schedule = Schedule(steps, store, reporter)
        self.children: set[Worker] = set()
        self.moved: Counter[str] = Counter()  # how often a step's machine was lost

    def run(self, targets: Iterable[str]) -> Result:
        """Make the artifact of every target, and the artifacts that these need. Raises StoreError when the
        disk is full. No child process is left running, whatever exception is raised."""
        for target in targets:
            self.schedule.want(target)
        self.reporter.more(len(self.schedule))
        count = self.workers.count if len(self.schedule) else 0  # a single step may be cut for all workers
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():  # Ctrl-C does not interrupt a join without a timeout
                    thread.join(0.2)
        except BaseException as error:
            self._stop(error)
            raise
        finally:
            for thread in threads:
                if thread.ident is not None:  # Ctrl-C may come before all have been started
                    thread.join()
            for child in list(self.children):
                self._end(child)
        if self.schedule.stopped is not None:
            raise self.schedule.stopped
        steps = self.schedule.steps
        executed = (id for id in self.schedule.executed if not isinstance(steps[id].record, PartOfStep))
        return Result(tuple(executed), dict(self.schedule.failures))

    # one thread for each child

    def _work(self) -> None:
        child: Worker | None = None
        try:
            while (step := self.schedule.next(self.workers.idle_seconds if child else None)) is not None:
                if child is not None and (step is Idle.IDLE or not self.workers.fits(child, step)):
                    self._end(child)
                    child = None
                if step is not Idle.IDLE:
                    child = self._execute(step, child or self._child(step))
        except BaseException as error:
            self._stop(error)

    def _child(self, step: Step) -> Worker:
        child = self.workers.start(step)
        with self.schedule.changed:
            self.children.add(child)
            if self.schedule.stopped is not None:  # `_stop` ran before this child was in `children`
                child.kill()
        return child

    def _end(self, child: Worker) -> None:
        with self.schedule.changed:
            self.children.discard(child)
        child.close()

    def _execute(self, step: Step, child: Worker) -> Worker | None:
        """Execute one step on the child. Returns the child, or None if the child can do no further steps."""
        record = step.record
        execute = requests.encode(requests.Execute(step.id, record, step.parts))
        if self._is_shared(step):
            child.send(requests.encode(requests.CountBlocks(step.id, record)))
        else:
            child.send(execute)
        began, clock = False, Clock(self.limits.timeout)
        while True:
            event = child.event(clock.left(), self.limits.memory)
            if event is None or (event["event"] == "progress" and clock.left() == 0):
                child.print_stack()
                self._lost(step, child, f"took longer than the timeout of {self.limits.timeout:g} s")
                return None
            kind = event["event"]
            if kind == "blocks":
                if len(parts.ranges(event["blocks"])) > 1:
                    joined, items = parts.cut(step, event["blocks"])
                    self.schedule.cut(step, joined, items, self.workers.has_part)
                    return child
                child.send(execute)
                clock = Clock(self.limits.timeout)
            elif kind in UNDERWAY:
                began = began or kind == "started"
                self._report(step, child, event, clock)
            else:
                return child if self._ended(step, child, event, began) else None

    def _report(self, step: Step, child: Worker, event: JSON, clock: Clock) -> None:
        """Take in an event after which the child goes on with the step."""
        kind = event["event"]
        if kind == "started":
            child.steps += 1
            clock.go_on()
            # the start of a step that was cut was reported
            if not isinstance(step.record, PartOfStep) and not step.parts:
                self.reporter.started(step)
        elif kind == "compiling":
            clock.pause()
        elif kind == "compiled":
            clock.go_on()
        elif kind == "waiting":
            self.reporter.note(f"{step.label}: another run is doing this; waiting for it")
        elif kind == "again":
            self.reporter.note(f"{step.label}: failed over what a killed run left; it is done from the start")
        elif kind == "note":
            self.reporter.note(f"{self.schedule.whole(step).label}: {event['text']}")
        elif not isinstance(step.record, PartOfStep):
            self.reporter.progress(step, event["done"], event["total"], event["note"])

    def _ended(self, step: Step, child: Worker, event: JSON, began: bool) -> bool:
        """Take in the event that ends the child's work on the step. Returns whether the child can do further
        steps; a child that cannot is ended. `began` says whether the child had begun the step."""
        kind: str = event["event"]
        if kind == "done" or event.get("pushed"):  # or its node was lost after it had pushed the step
            try:
                self._done(step, event.get("reused", True), child.output())
            except Corrupt as error:
                self._move(step, child, error.reason)
                return False
            if kind != "done":
                self._end(child)
            return kind == "done"
        if kind == "corrupt":
            if not self.schedule.remake(step, event["step"], event["reason"]):
                known = self.steps.get(event["step"])
                what = f"{known.label if known else event['step']}: {event['reason']}"
                self._failed(step, f"{what}, again and again; check the disk", False, "")
            return True
        if kind == "failed" and event["user"]:
            self._failed(step, event["reason"], True, "")
            return True
        if kind == "stop":
            raise StoreError(event["message"])
        if kind == "memory":
            self._lost(step, child, f"used more than the memory limit of {self.limits.memory:g} GB")
        elif kind == "failed":  # the child is ended, with all that the plugin left running in it
            self._lost(step, child, event["reason"])
        elif kind == "gone":
            self._move(step, child, event["reason"], event.get("unfit", False))
        elif not began and child.steps:  # an earlier step killed the child: this step had not begun
            self.schedule.again(step)
            self._end(child)
        else:
            self._lost(step, child, child.cause())
        return False

    def _is_shared(self, step: Step) -> bool:
        """Whether to ask the worker into how many blocks the step can be cut. A step is cut only if that can
        use another core. A step that a killed run began in one piece is finished in one piece."""
        may_be_cut = step.record.is_cuttable and not step.parts  # a step with parts joins them
        return may_be_cut and self.workers.shares(step) and not self.store.is_begun(step.id)

    def _move(self, step: Step, child: Worker, reason: str, unfit: bool = False) -> None:
        """Have a step whose machine was lost done on another one, `MOVES` times at most: the step itself may
        be the cause. A machine that is `unfit`, and so gets no more steps, is not counted."""
        self._end(child)
        if self.schedule.stopped is not None:
            return
        self.moved[step.id] += not unfit
        label = self.schedule.whole(step).label
        if self.moved[step.id] > MOVES:
            self._failed(step, f"its worker was lost {MOVES + 1} times: {reason}", False, "")
        else:
            self.reporter.note(f"{label}: its worker was lost ({reason}); it is done on another")
            self.schedule.again(step)

    def _lost(self, step: Step, child: Worker, reason: str) -> None:
        child.kill()
        output = child.output()
        self._end(child)
        if self.schedule.stopped is not None:
            return
        if disk.is_full(self.store.root):  # then a write to a mapped file, for one, kills without an error
            raise disk.full(self.store.root)
        self._failed(step, reason, False, output)

    def _done(self, step: Step, reused: bool, output: str) -> None:
        self._keep_output(self.store.logs, step, output)
        self.workers.done(step)
        compiled = 0.0
        with contextlib.suppress(Corrupt):  # another run may already have removed the artifact to remake it
            cost = {} if reused else self.store.read(step.id, trust=True).cost
            compiled = cost.get("compile_seconds", 0.0)
        self.schedule.done(step, reused)
        if isinstance(step.record, PartOfStep):
            whole = self.schedule.whole(step)
            self.reporter.progress(whole, *self.schedule.parts_done(whole), "in parts")
            return
        self.workers.joined(self.schedule.parts.get(step.id, []))
        self.reporter.done(step, reused, compiled)

    def _failed(self, failed: Step, reason: str, user: bool, output: str) -> None:
        step = self.schedule.whole(failed)
        if step.id not in self.schedule.failures:
            self.reporter.failed(step, reason)
        if not user and (log := self._keep_output(self.store.failures, step, output)) is not None:
            self.reporter.note(f"{step.label}: its output is in {log}")
        named = reason if user else f"{step.label}: {reason}"
        self.schedule.fail(failed, Failure(step.id, named, user))

    def _keep_output(self, folder: Path, step: Step, output: str) -> Path | None:
        """Write what a step printed to a file, and return the file; None if the step printed nothing, or the
        file cannot be written."""
        if not output:
            return None
        log = folder / f"{step.id}.log"
        try:
            log.write_text(output + "\n", encoding="utf-8")
        except OSError:
            return None
        return log

    def _stop(self, error: BaseException) -> None:
        self.schedule.stop(error)
        with self.schedule.changed:
            for child in self.children:
                child.kill()


def missing_needs(steps: Mapping[str, Step], store: Store, targets: Iterable[str]) -> list[Need]:
    """What the steps that the store lacks require and this machine does not have, each need once."""
    open_steps: dict[str, None] = {}

    def visit(step: str) -> None:
        if step not in open_steps and not store.has(step):
            open_steps[step] = None
            for below in steps[step].inputs:
                visit(below)

    for target in targets:
        visit(target)
    return list(dict.fromkeys(need for step in open_steps for need in steps[step].needs))
