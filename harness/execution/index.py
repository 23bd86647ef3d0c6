"""The step that indexes texts."""

from __future__ import annotations

from collections.abc import Sequence

from harness.contracts import Divisible
from harness.execution.task import Outcome, Task, reported
from harness.steps.index import Index
from harness.store.manifest import Artifact
from harness.types import IndexPart


def index(step: Index, task: Task) -> Outcome:
    texts = task.texts(step.texts)
    task.progress(0, len(texts))
    method = task.built(step.method)
    if step.source is None:
        report = method.index(texts, task.folder)
    else:
        report = method.derive(texts, task.read(step.source).folder, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})


def blocks(step: Index, task: Task) -> int:
    method = task.once(lambda: task.built(step.method))
    if step.source is not None or not isinstance(method, Divisible):
        return 1
    return -(-len(task.texts(step.texts)) // method.block)


def part(step: Index, task: Task, start: int, stop: int) -> Outcome:
    texts, method = task.texts(step.texts), task.once(lambda: task.built(step.method))
    begin, end = start * method.block, min(stop * method.block, len(texts))
    method.index_part(texts, task.folder, begin, end)
    return Outcome({"texts": [begin, end]}, {})


def join(step: Index, task: Task, parts: Sequence[Artifact]) -> Outcome:
    texts, method = task.texts(step.texts), task.once(lambda: task.built(step.method))
    ranges = []
    for part in parts:
        start, stop = part.facts["texts"]
        ranges.append(IndexPart(start, stop, part.folder))
    report = method.join(texts, ranges, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})
