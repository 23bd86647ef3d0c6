"""The workers that execute an engine's steps: processes of this machine, or of a cluster."""

from __future__ import annotations

from typing import Protocol

from harness.execution import run_queue
from harness.execution.worker_handle import Child
from harness.plan.graph import Step
from harness.steps.record import method_of
from harness.store.artifacts import Store
from harness.types import JSON


class Worker(Protocol):
    """One process that executes steps, one after another. One thread uses it; another thread may only call
    `kill`."""

    steps: int  # steps that the process has begun

    def send(self, request: bytes) -> None:
        """Send an encoded `harness.execution.requests.Request`."""
        ...

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        """The next event of the process; None after `timeout` seconds without one. Three events do not come
        from the process: `died` when it has ended, `memory` when it holds more than `memory` gigabytes, and
        `gone` when its machine is lost."""
        ...

    def output(self) -> str: ...

    def cause(self) -> str: ...

    def print_stack(self) -> None: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


class Workers(Protocol):
    """Starts workers, and says which steps they may do."""

    count: int  # workers that may work at once

    @property
    def idle_seconds(self) -> float | None:
        """The seconds after which an idle worker is ended; None: never."""
        ...

    def start(self, step: Step) -> Worker:
        """Start a worker for this step."""
        ...

    def fits(self, worker: Worker, step: Step) -> bool:
        """Whether a worker that has done other steps may also do this step."""
        ...

    def shares(self, step: Step) -> bool:
        """Whether several workers can do the step faster than one."""
        ...

    def has_part(self, part: str) -> bool:
        """Whether a part of a step is done."""
        ...

    def done(self, step: Step) -> None:
        """Called when a worker has done a step. Afterwards the engine's store has its artifact, unless the
        step is a part. Raises Corrupt if the artifact was lost on its way, so that the step is done again."""
        ...

    def has_pushed(self, step: str) -> bool:
        """Whether the remote certainly has the artifact of a step that was done in this run."""
        ...

    def joined(self, parts: list[str]) -> None:
        """Called when these parts are joined and no longer needed."""
        ...


class LocalWorkers:
    """Workers that are processes of this machine."""

    idle_seconds = None

    def __init__(self, store: Store, count: int) -> None:
        self.store, self.count = store, count
        self.threads = run_queue.cores()

    def start(self, step: Step) -> Worker:
        return Child(self.store, self.threads)

    def fits(self, worker: Worker, step: Step) -> bool:
        return True

    def shares(self, step: Step) -> bool:
        method = method_of(step.record)
        return self.count > 1 and method is not None and method.cores != "all"

    def has_part(self, part: str) -> bool:
        return self.store.has(part)

    def done(self, step: Step) -> None:
        """Does nothing: the worker has put the artifact into the store."""

    def has_pushed(self, step: str) -> bool:
        return False

    def joined(self, parts: list[str]) -> None:
        for part in parts:
            self.store.discard(part)
            self.store.forget(part)  # a worker that was killed just after it finished the part left a folder
