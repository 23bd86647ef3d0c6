"""Executes one step of the plan in a worker. The result depends only on the step's inputs."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.execution import compile_time, run_queue
from harness.execution.steps import (
    analysing,
    collecting,
    combining,
    cutting,
    labelling,
    making,
    reranking,
    rewriting,
    searching,
    training,
    tuning,
)
from harness.execution.steps.task import Outcome, Task

__all__ = ["Outcome", "Task", "cutting", "execute"]

EXECUTORS: dict[str, Callable[[Task], Outcome]] = {
    "corpus": making.corpus_,
    "queries": making.queries,
    "judgements": making.judgements,
    "make": collecting.make,
    "augment": making.augment,
    "index": searching.index,
    "search": searching.search,
    "combine": combining.combine,
    "rewrite": rewriting.rewrite,
    "rerank": reranking.rerank,
    "tune": tuning.tune,
    "analyse": analysing.analyse,
    "label": labelling.label,
    "examples": training.examples,
    "train": training.train,
    "validate": training.validate,
}


def execute(task: Task) -> Outcome:
    """Execute a step and return its facts and cost. `seconds` in the cost includes neither the time of
    compiling, which is in `compile_seconds`, nor the time that only serves to measure the method. A
    machine that nobody else uses would have saved `queued_seconds` of them."""
    compiled, queued = compile_time.watch(task.libraries, task.compiling), run_queue.watch()
    began = time.perf_counter()
    try:
        if "parts" in task.work:
            outcome = cutting.join(task)
        elif "blocks" in task.work:
            outcome = cutting.part(task)
        else:
            outcome = EXECUTORS[task.kind](task)
        total = time.perf_counter() - began
    finally:
        spent = compiled()  # after a failed step too, because the process goes on with other steps
    seconds = total - spent - outcome.cost.pop("apart_seconds", 0.0)
    cost = {"seconds": seconds, **({"compile_seconds": spent} if spent else {}), **outcome.cost}
    if (share := queued()) is not None:
        cost["queued_seconds"] = seconds * share
    return Outcome(outcome.facts, cost)
