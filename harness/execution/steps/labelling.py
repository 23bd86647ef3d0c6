"""The step that labels the retrieved passages that contain an answer."""

from __future__ import annotations

import numpy as np

from harness.execution.steps.task import Outcome, Task
from harness.scoring import answers
from harness.store import hits_files


def label(task: Task) -> Outcome:
    read, queries = task.corpus(), task.queries()
    hits = hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))
    labels = answers.labels(read, queries, hits, task.work["depth"], lambda done: task.progress(done, None))
    np.save(task.folder / "labels.npy", labels)
    return Outcome({"relevant": int((labels > 0).sum())}, {})
