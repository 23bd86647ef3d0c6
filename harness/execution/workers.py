"""Where an engine's steps are executed: processes of this machine, or those of a cluster."""

from __future__ import annotations

import os
from typing import Protocol

from harness.execution.worker_handle import Ask, Child
from harness.plan.graph import Step
from harness.store.artifacts import Store
from harness.types import JSON


class Worker(Protocol):
    """One process that executes steps, one after another. Used by one thread; only `kill` may be called from
    another."""

    steps: int  # that it has begun

    def send(self, step: Step, ask: Ask = "result") -> None: ...

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        """The next event; None when the time is up. Beside what a process says: `died` when the process has
        ended, `memory` when it holds too much, `gone` when the machine that it ran on is lost."""
        ...

    def output(self) -> str: ...

    def cause(self) -> str: ...

    def print_stack(self) -> None: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


class Workers(Protocol):
    """Starts workers, and says what they need."""

    count: int  # how many may work at once

    @property
    def idle_seconds(self) -> float | None:
        """After which a worker without work is ended; None: never."""
        ...

    def start(self, step: Step) -> Worker:
        """A worker for this step."""
        ...

    def fits(self, worker: Worker, step: Step) -> bool:
        """Whether a worker that has done other steps may do this one."""
        ...

    def shares(self, step: Step) -> bool:
        """Whether several workers can do a step of this method faster than one."""
        ...

    def has_part(self, part: str) -> bool:
        """Whether a part of a step is done."""
        ...

    def done(self, step: Step) -> None:
        """Called once a worker has done a step: it is then in the engine's store, unless it is a part."""
        ...

    def joined(self, parts: list[str]) -> None:
        """Called when nobody wants these parts any more."""
        ...


class LocalWorkers:
    """Processes of this machine."""

    idle_seconds = None

    def __init__(self, store: Store, count: int) -> None:
        self.store, self.count = store, count
        self.threads = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )

    def start(self, step: Step) -> Worker:
        return Child(self.store, self.threads)

    def fits(self, worker: Worker, step: Step) -> bool:
        return True

    def shares(self, step: Step) -> bool:
        return self.count > 1 and step.work["method"]["cores"] != "all"

    def has_part(self, part: str) -> bool:
        return self.store.has(part)

    def done(self, step: Step) -> None:
        """The worker has put it into the store."""

    def joined(self, parts: list[str]) -> None:
        for part in parts:
            self.store.discard(part)
