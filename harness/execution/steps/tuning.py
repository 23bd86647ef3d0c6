"""The step that tries every value of a parameter and keeps the whole curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.queries import read_judgements
from harness.errors import HarnessError
from harness.execution.steps import folding
from harness.execution.steps.combining import combiner
from harness.execution.steps.task import Outcome, Task
from harness.scoring import protocols, score
from harness.scoring.rules import Rules, scores_of
from harness.scoring.score import Scored
from harness.types import JSON

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tune(task: Task) -> Outcome:
    work, read, queries = task.work, task.corpus(), task.queries()
    stored = read_judgements(task.input("judgements").folder)
    how = Rules(**work["rules"])
    judged = how.judging(read, queries, stored).judged
    plugin_measures = protocols.measures_of_plugins(task.catalogue)
    column, _ = protocols.column(work["measure"], plugin_measures)
    if work["unit"] == "document":
        column = column._replace(unit="document")
    merged = combiner(task)
    tried: list[Scored] = []
    scored = np.zeros(0, np.int64)
    for i, value in enumerate(work["values"]):
        task.progress(i, len(work["values"]))
        scores = scores_of(how, merged(value), judged, [column], read, queries, plugin_measures, strict=True)
        tried.append(scores.columns[0])
        scored = scores.queries
    task.progress(len(tried), len(tried))
    curve = [score.mean(one, np.ones(len(scored), np.bool_)) for one in tried]
    slices = sorted({name for names in queries.slices for name in names})
    of_slice = {name: np.array([name in queries.slices[i] for i in scored.tolist()]) for name in slices}
    facts = {
        "parameter": work["parameter"],
        "measure": column.label,
        "queries": len(scored),
        "values": work["values"],
        "curve": curve,
        "slices": {
            name: [score.mean(one, mask) for one in tried] for name, mask in of_slice.items() if mask.any()
        },
        "value": None if work["folds"] else work["values"][best(curve)],
        "folds": _across(tried, work, folding.folds(queries.ids, work["folds"])[scored])
        if work["folds"]
        else None,
    }
    return Outcome({"tuning": facts}, {})


def best(curve: Sequence[float]) -> int:
    """The place of the highest value; the first of equals, that is the smaller parameter, wins."""
    return int(np.argmax(curve))


def _across(tried: Sequence[Scored], work: JSON, fold_of: NDArray[np.int64]) -> list[float]:
    """For each fold the value that is best on all others."""
    if len(np.unique(fold_of)) < 2:
        raise HarnessError(f"{work['folds']} folds of {len(fold_of)} judged queries; take fewer")
    chosen = []
    for fold in range(work["folds"]):
        others = fold_of != fold
        chosen.append(work["values"][best([score.mean(one, others) for one in tried])])
    return chosen
