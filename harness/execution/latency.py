"""The latency of one stage of a system: the time of each query of a sample, asked alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from harness.execution.task import Task
from harness.store import responses
from harness.types import JSON

SAMPLE = 50  # queries that are asked one at a time
SECONDS = 5.0  # the sample ends after this time,
SHARE = 0.02  # or after this share of the step's work, if that is longer


def measured(task: Task, queries: int, ask: Callable[[int], object], worked: float) -> dict[str, JSON]:
    """Parts of a step's cost: the milliseconds of each sampled query, and the seconds of the whole sample.
    `ask` does the work of the step for one query, after the step has done it for all in `worked` seconds. The
    sample and its order depend on the number of queries alone, so that rows can add the times of several
    steps query by query; a step that is slow has the first queries of the sample."""
    if responses.of_step(task.store.responses, task.whole) is not None:
        return {"no_latency": "service"}  # its answers are kept, so a second request measures only the store
    sample = np.random.default_rng(0).permutation(queries)[:SAMPLE].tolist()
    taken: list[float] = []
    began = time.perf_counter()
    for i in (*sample[:1], *sample):  # the first query is asked twice: what is loaded then is not counted
        start = time.perf_counter()
        ask(i)
        taken.append(round((time.perf_counter() - start) * 1000, 4))
        if len(taken) > 1 and time.perf_counter() - began > max(SECONDS, SHARE * worked):
            break
    return {"query_ms": taken[1:], "apart_seconds": time.perf_counter() - began}
