"""The step that indexes texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Divisible, ReadsDocuments, Texts
from harness.execution.task import Outcome, Task, reported
from harness.steps.index import Index
from harness.store.manifest import Artifact
from harness.types import IndexPart, Ints


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
    return len(_borders(method, task.texts(step.texts))) - 1


def part(step: Index, task: Task, start: int, stop: int) -> Outcome:
    texts, method = task.texts(step.texts), task.once(lambda: task.built(step.method))
    begin, end = _borders(method, texts)[[start, stop]].tolist()
    method.index_part(texts, task.folder, begin, end)
    return Outcome({"texts": [begin, end]}, {})


def _borders(method: Divisible, texts: Texts) -> Ints:
    """int64[blocks + 1]: the numbers of the texts where blocks begin, and of all texts."""
    if isinstance(method, ReadsDocuments) and method.whole_documents:
        return texts.borders(method.block)
    return np.append(np.arange(0, len(texts), method.block), len(texts))


def join(step: Index, task: Task, parts: Sequence[Artifact]) -> Outcome:
    texts, method = task.texts(step.texts), task.once(lambda: task.built(step.method))
    ranges = []
    for part in parts:
        start, stop = part.facts["texts"]
        ranges.append(IndexPart(start, stop, part.folder))
    report = method.join(texts, ranges, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})
