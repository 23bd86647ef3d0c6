"""The schedule of a run: which steps are left, in which order, and what is done about a missing input."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from harness.execution.progress import Reporter
from harness.plan.graph import Step
from harness.steps import PartOfStep
from harness.store.artifacts import Store

REBUILDS = 3  # how often one artifact is made again for one step that reads it


class Idle(Enum):
    """The answer of a schedule in which no step can begin yet."""

    IDLE = auto()


class Failure(NamedTuple):
    """The reason why a step has no result."""

    step: str  # the id of the step that failed first
    reason: str
    user: bool  # whether it is a user's mistake (bad data), not a plugin's fault


class Schedule:
    """The state that the threads of an engine share. Every method may be called from any thread."""

    def __init__(self, steps: Mapping[str, Step], store: Store, reporter: Reporter) -> None:
        self.steps = dict(steps)
        self.parts: dict[str, list[str]] = {}  # id of a step that was cut -> ids of its parts
        self.store = store
        self.reporter = reporter
        self.failures: dict[str, Failure] = {}
        self.executed: list[str] = []
        self.stopped: BaseException | None = None
        self.changed = threading.Condition()
        self._todo: dict[str, None] = {}  # the steps left, in the order of the plan
        self._running: dict[str, int] = {}  # step -> how many steps had been executed when it began
        self._stale = True  # whether the following three fields must be computed again
        self._ranks: dict[str, int] = {}  # step -> its place in `_todo`
        self._readers: dict[str, list[str]] = {}  # step -> the steps that wait for it
        self._ready: list[tuple[int, str]] = []  # a heap of steps that may begin; some may have begun already
        # A step may read more than its inputs: an analysis reads what an index reported. An artifact that was
        # missing is made before the step is tried again.
        self._missed: dict[str, set[str]] = {}
        self._reports: Counter[tuple[str, str]] = Counter()

    def __len__(self) -> int:
        return len(self._todo)

    def want(self, target: str) -> None:
        """Add a step that the store lacks, after all steps that it reads."""
        if self.store.has(target) or target in self._todo:
            return
        for below in self.steps[target].inputs:
            self.want(below)
        self._todo[target] = None
        self._stale = True

    def next(self, patience: float | None = None) -> Step | Idle | None:
        """The next step whose inputs are all made. Waits until there is one; returns IDLE after `patience`
        seconds without one (None: waits without limit), and None when no step is left or after `stop`."""
        began = time.monotonic()
        with self.changed:
            while self.stopped is None:
                if self._stale:
                    self._find_ready()
                if not self._todo:
                    return None
                while self._ready:
                    _, step = heapq.heappop(self._ready)
                    if self._may_begin(step):
                        self._running[step] = len(self.executed)
                        return self.steps[step]
                if patience is not None and time.monotonic() - began > patience:
                    return Idle.IDLE
                self.changed.wait(0.5)
            return None

    def done(self, step: Step, reused: bool) -> None:
        with self.changed:
            if not reused:
                self.executed.append(step.id)
            self._remove(step)

    def fail(self, step: Step, failure: Failure) -> None:
        with self.changed:
            self.failures[step.id] = failure
            for other in self.parts.get(self.whole(step).id, ()):  # the other parts are of no use now
                if other not in self._running:
                    self._todo.pop(other, None)
            self._stale = True
            self._remove(step)

    def again(self, step: Step) -> None:
        """Put a running step back, to be executed again."""
        with self.changed:
            self._running.pop(step.id, None)
            self._stale = True
            self.changed.notify_all()

    def remake(self, step: Step, missed: str, reason: str) -> bool:
        """Have an artifact that `step` found missing or damaged made again, and then `step` executed again.
        The artifact is made once, however many steps report it. Returns False if this was tried too often, or
        if the plan has no step that makes the artifact."""
        self._reports[step.id, missed] += 1
        if missed not in self.steps or self._reports[step.id, missed] > REBUILDS:
            return False
        is_whole = self.store.is_whole(missed)  # outside of the lock, because it reads the whole artifact
        with self.changed:
            self._missed.setdefault(step.id, set()).add(missed)
            made_since = missed in self.executed[self._running[step.id] :]
            if missed not in self._todo and not is_whole and not made_since:
                self.reporter.note(f"{self.steps[missed].label}: {reason}; it is made again")
                self.store.discard(missed)
                later = dict(self._todo)
                self._todo.clear()
                self.want(missed)
                self._todo.update(later)
                self.reporter.more(len(self._todo))
        self.again(step)
        return True

    def cut(self, step: Step, joined: Step, parts: Sequence[Step], is_made: Callable[[str], bool]) -> None:
        """Replace a running step by its parts, which any free worker makes, and the step that joins them."""
        missing = [part.id for part in parts if not is_made(part.id)]  # not locked: it may ask a remote
        with self.changed:
            self.steps |= {step.id: joined, **{part.id: part for part in parts}}
            self.parts[step.id] = [part.id for part in parts]
            self._missed.setdefault(step.id, set()).update(self.parts[step.id])
            before = list(itertools.takewhile(lambda other: other != step.id, self._todo))
            self._todo = dict.fromkeys([*before, *missing, *self._todo])
        self.again(step)

    def whole(self, step: Step) -> Step:
        """The step that `step` is a part of; if it is no part, `step` itself."""
        return self.steps[step.record.of] if isinstance(step.record, PartOfStep) else step

    def parts_done(self, step: Step) -> tuple[int, int]:
        """How many parts of a cut step are done, and how many parts it has."""
        with self.changed:
            parts = self.parts[step.id]
            return len(parts) - sum(part in self._todo for part in parts), len(parts)

    def stop(self, error: BaseException) -> None:
        with self.changed:
            if self.stopped is None:
                self.stopped = error
            self.changed.notify_all()

    def _reads(self, step: str) -> set[str]:
        return {*self.steps[step].inputs, *self._missed.get(step, ())}

    def _may_begin(self, step: str) -> bool:
        waiting = step in self._todo and step not in self._running
        return waiting and not any(below in self._todo for below in self._reads(step))

    def _find_ready(self) -> None:
        self._fail_dependents()
        self._ranks = {step: rank for rank, step in enumerate(self._todo)}
        self._readers = {}
        for step in self._todo:
            for below in self._reads(step):
                if below in self._todo:
                    self._readers.setdefault(below, []).append(step)
        self._ready = [(rank, step) for step, rank in self._ranks.items() if self._may_begin(step)]
        self._stale = False  # `_ready` is sorted, so it is a heap

    def _fail_dependents(self) -> None:
        """Drop the steps that read a failed step, directly or through others. One pass is enough, because
        every step comes after those that it reads."""
        for step in list(self._todo) if self.failures else ():
            if step not in self._running:
                failed = next((below for below in self._reads(step) if below in self.failures), None)
                if failed is not None:
                    self.failures[step] = self.failures[failed]
                    self._todo.pop(step)

    def _remove(self, step: Step) -> None:
        self._todo.pop(step.id, None)
        self._running.pop(step.id, None)
        for reader in self._readers.get(step.id, ()):
            if self._may_begin(reader):
                heapq.heappush(self._ready, (self._ranks[reader], reader))
        self.changed.notify_all()
