"""The workers that execute an engine's steps: processes of this machine, or of a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from harness.errors import HarnessError
from harness.execution import run_queue
from harness.execution.worker_handle import Child
from harness.plan.graph import Step
from harness.steps.record import method_of
from harness.store.artifacts import Store
from harness.types import JSON

ENGINES = ("local", "ray")


class Worker(Protocol):
    """One process that executes steps, one after another. One thread uses it; others may only call `kill`."""

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
        return self.count > 1 and (method is None or method.cores != "all")

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


def chosen_engine(engine: str | None) -> str:
    """The engine that is given, or that the environment variable HARNESS_ENGINE names, or `local`."""
    name = engine or os.environ.get("HARNESS_ENGINE") or "local"
    if name not in ENGINES:
        where = "engine" if engine else "HARNESS_ENGINE"
        raise HarnessError(f"{where}: expected {' or '.join(ENGINES)}, got '{name}'")
    return name


@contextmanager
def of_engine(
    store: Store,
    engine: str | None,
    address: str | None = None,
    jobs: int | None = None,
    ship: bool = False,
    fresh: bool = False,
) -> Iterator[Workers | None]:
    """The workers of the chosen engine, until the end of the block; None for local processes."""
    if chosen_engine(engine) == "local":
        for name, given in (("address", address is not None), ("ship", ship)):
            if given:
                raise HarnessError(f"{name}: is for a Ray cluster; choose the engine ray too")
        yield None
        return
    try:
        from harness.execution.ray_workers import RayWorkers
    except ModuleNotFoundError as error:
        install = "pip install 'passage-harness[ray]'"
        raise HarnessError(f"the engine ray: needs {error.name}; install with: {install}") from None
    cluster = RayWorkers(store, address, jobs, ship, fresh)
    try:
        yield cluster
    finally:
        cluster.close()
