"""Where the steps of a run are done: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import HarnessError
from harness.execution.workers import Workers
from harness.store.artifacts import Store

ENGINES = ("local", "ray")


def chosen(engine: str | None) -> str:
    """The engine that is given, or that the environment variable HARNESS_ENGINE names, or `local`."""
    name = engine or os.environ.get("HARNESS_ENGINE") or "local"
    if name not in ENGINES:
        where = "engine" if engine else "HARNESS_ENGINE"
        raise HarnessError(f"{where}: expected {' or '.join(ENGINES)}, got '{name}'")
    return name


@contextmanager
def workers(
    store: Store,
    engine: str | None,
    address: str | None = None,
    jobs: int | None = None,
    ship: bool = False,
    fresh: bool = False,
) -> Iterator[Workers | None]:
    """The workers of the chosen engine, until the end of the block; None for local processes."""
    if chosen(engine) == "local":
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
