"""The step that writes a corpus with fewer candidates."""

from __future__ import annotations

import shutil

import numpy as np

from harness.collection.corpus import Corpus
from harness.collection.judgements import judging
from harness.execution.task import Outcome, Task
from harness.steps.subset import Subset


def subset(step: Subset, task: Task) -> Outcome:
    """Write the same corpus with fewer candidates: the top of a run, and the judged passages."""
    whole, queries, hits = task.read(step.corpus), task.queries(step.queries), task.hits(step.hits)
    read = Corpus(whole.folder)
    judged = judging(read, queries, task.judgements(step.judgements)).judged
    kept = np.zeros(read.passages, np.bool_)
    top = hits.passages[:, : step.depth]
    kept[top[top >= 0]] = True
    kept[judged.passage[judged.passage < read.passages]] = True
    kept &= read.candidate
    for path in sorted([*whole.folder.glob("*.arrow"), *whole.folder.glob("*.npy")]):
        shutil.copyfile(path, task.folder / path.name)
    np.save(task.folder / "candidate.npy", kept, allow_pickle=False)
    return Outcome({**whole.facts, "candidates": int(kept.sum())}, {})
