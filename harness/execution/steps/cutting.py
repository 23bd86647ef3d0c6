"""Steps that several workers share: the blocks of a step's work, the work on one part, the joining."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.execution.steps import making, reranking, searching
from harness.execution.steps.task import Outcome, Task
from harness.store.manifest import Artifact
from harness.types import JSON


class Cutting(NamedTuple):
    """The functions by which workers share the steps of one kind."""

    blocks: Callable[[Task], int]  # at most 1 for a step that is done in one piece
    part: Callable[[Task, int, int], Outcome]  # does a range of the blocks
    join: Callable[[Task, Sequence[Artifact]], Outcome]


CUTTINGS = {
    "augment": Cutting(making.augment_blocks, making.augment_part, making.augment_join),
    "index": Cutting(searching.index_blocks, searching.index_part, searching.index_join),
    "search": Cutting(searching.search_blocks, searching.search_part, searching.search_join),
    "rerank": Cutting(reranking.rerank_blocks, reranking.rerank_part, reranking.rerank_join),
}


def blocks(task: Task) -> int:
    return CUTTINGS[task.kind].blocks(task)


def part(task: Task) -> Outcome:
    start, stop = task.work["blocks"]
    return CUTTINGS[task.kind].part(task, start, stop)


def join(task: Task) -> Outcome:
    """Make the result of a step from its parts. The cost is that of the parts and of joining them."""
    task.store.clear(task.folder)  # a killed run may have begun the step in one piece
    return CUTTINGS[task.kind].join(task, [task.store.read(item) for item in task.work["parts"]])


def with_parts(cost: dict[str, JSON], parts: Sequence[Artifact]) -> dict[str, JSON]:
    """The cost of a joined step: its own time and that of its parts added up, and the highest peak of
    memory."""
    total = dict(cost)
    if not all("energy_joules" in each for each in (cost, *(item.cost for item in parts))):
        total.pop("energy_joules", None)  # a sum over some of the parts would look like the whole
    for item in parts:
        for name in ("seconds", "queued_seconds", "cpu_seconds", "compile_seconds", "energy_joules"):
            if name in item.cost and (name in total or name != "energy_joules"):
                total[name] = total.get(name, 0.0) + item.cost[name]
        total["peak_mb"] = max(total["peak_mb"], item.cost["peak_mb"])
    return total
