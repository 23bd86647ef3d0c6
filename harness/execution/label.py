"""The step that labels the retrieved passages that contain an answer."""

from __future__ import annotations

import numpy as np

from harness.execution.task import Outcome, Task
from harness.scoring import answers
from harness.steps.label import Label


def label(step: Label, task: Task) -> Outcome:
    read, queries, hits = task.corpus(step.corpus), task.queries(step.queries), task.hits(step.hits)
    labels = answers.labels(read, queries, hits, step.depth, lambda done: task.progress(done, None))
    np.save(task.folder / "labels.npy", labels)
    return Outcome({"relevant": int((labels > 0).sum())}, {})
