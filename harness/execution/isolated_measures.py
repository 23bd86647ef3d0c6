"""Measures of plugins, computed in a worker process: one that fails costs only its column."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from harness.errors import ContractError, StoreError
from harness.execution import requests
from harness.execution.engine import NO_LIMITS, StepLimits
from harness.execution.worker_handle import Child
from harness.records import Measure
from harness.scoring.measures.grades import Ideal
from harness.store.artifacts import Store

Values = tuple[NDArray[np.float64], NDArray[np.float64]]


class IsolatedMeasures:
    """Computes measures in one worker process, started when a measure is first computed. A measure that
    failed is not tried again."""

    def __init__(self, store: Store, limits: StepLimits = NO_LIMITS) -> None:
        self._store, self._limits = store, limits
        self._child: Child | None = None
        self.failed: dict[str, str] = {}  # measure -> why
        self.logs: dict[str, Path] = {}  # measure -> the file with what the measure printed before failing

    def __enter__(self) -> IsolatedMeasures:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def of(self, measures: Mapping[str, Measure]) -> dict[str, Measure]:
        """The same measures with functions that compute in the worker process."""

        def build(name: str) -> Callable[[], Callable[..., Values]]:
            return lambda: partial(self._computed, name)

        return {name: dataclasses.replace(record, build=build(name)) for name, record in measures.items()}

    def _computed(
        self, name: str, grades: NDArray[np.int32], ideal: Ideal, rel: int, cutoff: int | None
    ) -> Values:
        if name in self.failed:
            raise ContractError(self.failed[name])
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder, "asked.npz"), grades=grades, row=ideal.row, grade=ideal.grade)
            reason = self._ask(requests.Measure(name, folder, ideal.queries, rel, cutoff))
            if reason is not None:
                self.failed[name] = f"the measure {name} failed: {reason}"
                self._keep_output(name)
                self._end()
                raise ContractError(self.failed[name])
            with np.load(Path(folder, "computed.npz"), allow_pickle=False) as computed:
                return computed["numerator"], computed["denominator"]

    def _ask(self, request: requests.Measure) -> str | None:
        """Send a request and wait for its end. Returns why it failed, or None if it succeeded."""
        child = self._child = self._child or Child(self._store, 1)
        child.send(requests.encode(request))
        deadline: float | None = None
        while True:
            event = child.event(deadline and max(0.0, deadline - time.monotonic()), self._limits.memory)
            kind = None if event is None else event["event"]
            if kind is None:
                child.print_stack()
                return f"it took longer than the timeout of {self._limits.timeout:g} s"
            if kind == "started" and self._limits.timeout is not None:
                deadline = time.monotonic() + self._limits.timeout
            elif kind == "memory":
                return f"it used more than the memory limit of {self._limits.memory:g} GB"
            elif kind == "done":
                return None
            elif kind == "failed":
                return str(event["reason"])
            elif kind == "stop":
                raise StoreError(event["message"])
            elif kind in ("died", "corrupt"):
                return child.cause()

    def _keep_output(self, name: str) -> None:
        output = self._child.output() if self._child is not None else ""
        log = self._store.failures / f"measure-{name}.log"
        if output:
            with contextlib.suppress(OSError):  # the store may be read-only
                log.write_text(output + "\n", encoding="utf-8")
                self.logs[name] = log

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
