"""The step that chooses the best checkpoint of a training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.execution.task import Outcome, Task
from harness.scoring import protocols, score
from harness.scoring.rank_agreement import kendall_tau
from harness.scoring.score import judged_by, scores_of
from harness.steps import results
from harness.steps.record import Ref
from harness.steps.validate import Validate
from harness.types import JSON


def validate(step: Validate, task: Task) -> Outcome:
    """Measure every checkpoint and choose the best one; the first of equals is chosen."""
    read, queries, rules = task.corpus(step.corpus), task.queries(step.queries), step.measured.rules
    judged = judged_by(rules, read, queries, task.judgements(step.judgements))
    plugin_measures = protocols.measures_of_plugins(task.catalogue)
    column, _ = protocols.column(step.measured.name, plugin_measures)

    def measured(runs: Sequence[Ref[results.Hits]], begun: int = 0) -> tuple[list[float], int]:
        curve, count = list[float](), 0
        for done, run in enumerate(runs, begun):
            task.progress(done, len(step.hits) + len(step.whole))
            hits = task.hits(run)
            columns = [column._replace(unit=hits.unit)]
            scores = scores_of(rules, hits, judged, columns, read, queries, plugin_measures)
            count = len(scores.queries)
            curve.append(score.mean(scores.columns[0], np.ones(count, np.bool_)))
        return curve, count

    curve, count = measured(step.hits)
    best = int(np.argmax(curve))
    facts: dict[str, JSON] = {
        "on": step.on, "measure": column.label, "queries": count, "curve": curve, "checkpoint": best + 1,
        "model": step.checkpoints[best].step,
    }  # fmt: skip
    if step.shortened is not None:
        part = {"of": step.shortened.of, "depth": step.shortened.depth}
        facts["corpus"] = {**part, "candidates": int(read.candidate.sum()), "comparable": False}
    if step.whole:
        whole, _ = measured(step.whole, len(curve))
        facts |= {"whole": whole, "kendall_tau": kendall_tau(curve, whole)}
    return Outcome({"validation": facts, "reported": facts}, {})
