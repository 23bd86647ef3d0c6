"""Executes a step in a worker, by the function of its record's type. Only its inputs matter."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, assert_never

from harness import steps
from harness.execution import (
    analyse,
    augment,
    combine,
    compile_time,
    examples,
    index,
    label,
    make,
    read,
    rerank,
    rewrite,
    run_queue,
    search,
    subset,
    train,
    tune,
    validate,
)
from harness.execution.task import Outcome, Task
from harness.step_context import StepContext
from harness.steps.record import AnyRecord
from harness.store.manifest import NOT_KEYED, Artifact
from harness.types import JSON


class Cutting(NamedTuple):
    """The functions by which several workers share the steps of one kind."""

    blocks: Callable[[Any, Task], int]  # at most 1 for a step that is done in one piece
    part: Callable[[Any, Task, int, int], Outcome]  # does a range of the blocks
    join: Callable[[Any, Task, Sequence[Artifact]], Outcome]


CUTTINGS: Final[dict[type[AnyRecord], Cutting]] = {
    steps.Augment: Cutting(augment.blocks, augment.part, augment.join),
    steps.Index: Cutting(index.blocks, index.part, index.join),
    steps.Search: Cutting(search.blocks, search.part, search.join),
    steps.Rerank: Cutting(rerank.blocks, rerank.part, rerank.join),
}


def execute(task: Task, parts: Sequence[str] = ()) -> Outcome:
    """Execute a step, or join its `parts`, and return its facts and cost. `seconds` in the cost includes
    neither the time of compiling, which is in `compile_seconds`, nor the time that only serves to measure the
    method. A machine that nobody else uses would have saved `queued_seconds` of them."""
    compiled, queued = compile_time.watch(task.libraries, task.compiling), run_queue.watch()
    began = time.perf_counter()
    try:
        outcome = _join(task, parts) if parts else _execute(task)
        total = time.perf_counter() - began
    finally:
        spent = compiled()  # after a failed step too, because the process goes on with other steps
    # what was compiled while latencies were measured is in both
    seconds = max(0.0, total - spent - outcome.cost.pop("apart_seconds", 0.0))
    cost = {"seconds": seconds, **({"compile_seconds": spent} if spent else {}), **outcome.cost}
    if (share := queued()) is not None:
        cost["queued_seconds"] = seconds * share
    return Outcome(outcome.facts, cost)


def blocks(task: Task) -> int:
    """Into how many blocks a step can be cut."""
    return CUTTINGS[type(task.record)].blocks(task.record, task)


def _execute(task: Task) -> Outcome:
    if task.part is None:
        return _whole(task.record, task)
    return CUTTINGS[type(task.record)].part(task.record, task, task.part.start, task.part.stop)


def _whole(record: steps.Whole, task: Task) -> Outcome:
    """Execute a step in one piece. A type checker names each kind of step that is missing here."""
    match record:
        case steps.ReadCorpus():
            return read.read_corpus(record, task)
        case steps.ReadQueries():
            return read.read_queries(record, task)
        case steps.ReadJudgements():
            return read.read_judgements(record, task)
        case steps.Subset():
            return subset.subset(record, task)
        case steps.Make():
            return make.make(record, task)
        case steps.MadePart():
            return make.made_part(record, task)
        case steps.Augment():
            return augment.augment(record, task)
        case steps.Index():
            return index.index(record, task)
        case steps.Search():
            return search.search(record, task)
        case steps.Rewrite():
            return rewrite.rewrite(record, task)
        case steps.Combine():
            return combine.combine(record, task)
        case steps.Pick():
            return combine.pick(record, task)
        case steps.Rerank():
            return rerank.rerank(record, task)
        case steps.Tune():
            return tune.tune(record, task)
        case steps.Trials():
            return tune.trials(record, task)
        case steps.Label():
            return label.label(record, task)
        case steps.Examples():
            return examples.examples(record, task)
        case steps.Train():
            return train.train(record, task)
        case steps.Validate():
            return validate.validate(record, task)
        case steps.Analyse():
            return analyse.analyse(record, task)
        case _:
            assert_never(record)


def _join(task: Task, parts: Sequence[str]) -> Outcome:
    """Make the result of a step from its parts. The cost is that of the parts and of joining them."""
    task.store.clear(task.folder)  # a killed run may have begun the step in one piece
    return CUTTINGS[type(task.record)].join(task.record, task, [task.store.read(part) for part in parts])


def with_noted(
    facts: dict[str, JSON], context: StepContext, parts: Sequence[Artifact], whole: bool
) -> dict[str, JSON]:
    """The facts of a step with what its methods noted that no key holds, and with the files of models that it
    has read in other formats than safetensors. Those of a whole step are reported; those of a part are kept
    for the step that joins it."""
    formats = (context.converted and context.converted.read) or set()
    read = sorted(formats.union(*(part.facts.get("weights", ()) for part in parts)))
    unkeyed = (context.unkeyed or set()).union(*(part.facts.get(NOT_KEYED, ()) for part in parts))
    if unkeyed:
        facts = {**facts, NOT_KEYED: sorted(unkeyed)}
    if not read:
        return facts
    if not whole:
        return {**facts, "weights": read}
    return {**facts, "reported": {**facts.get("reported", {}), "weights": read}}


def with_parts(cost: dict[str, JSON], parts: Sequence[Artifact]) -> dict[str, JSON]:
    """The cost of a joined step: its own time and that of its parts added up, and the highest memory."""
    total = dict(cost)
    if not all("energy_joules" in each for each in (cost, *(item.cost for item in parts))):
        total.pop("energy_joules", None)  # a sum over some of the parts would look like the whole
    for item in parts:
        for name in ("seconds", "queued_seconds", "cpu_seconds", "compile_seconds", "energy_joules"):
            if name in item.cost and (name in total or name != "energy_joules"):
                total[name] = total.get(name, 0.0) + item.cost[name]
        total["peak_mb"] = max(total["peak_mb"], item.cost["peak_mb"])
    return total
