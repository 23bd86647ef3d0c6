"""The step that tries every value of a parameter and keeps the whole curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from harness.store import hits_files
from harness.types import JSON, Hits

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
    values, hits_of = _trials(task)
    tried: list[Scored] = []
    scored = np.zeros(0, np.int64)
    for i in range(len(values)):
        task.progress(i, len(values))
        scores = scores_of(how, hits_of(i), judged, [column], read, queries, plugin_measures, strict=True)
        tried.append(scores.columns[0])
        scored = scores.queries
    task.progress(len(tried), len(tried))
    curve = [score.mean(one, np.ones(len(scored), np.bool_)) for one in tried]
    slices = sorted({name for names in queries.slices for name in names})
    of_slice = {name: np.array([name in queries.slices[i] for i in scored.tolist()]) for name in slices}
    across = None
    if work["folds"]:
        across = _across(tried, work["folds"], folding.folds(queries.ids, work["folds"])[scored])
    facts = {
        "parameter": ", ".join(work["parameters"]) if "trials" in work else work["parameter"],
        "measure": column.label,
        "queries": len(scored),
        "values": values,
        "curve": curve,
        "slices": {
            name: [score.mean(one, mask) for one in tried] for name, mask in of_slice.items() if mask.any()
        },
        "value": None if across else values[best(curve)],
        "folds": [values[i] for i in across] if across else None,
    }
    if "trials" not in work:
        return Outcome({"tuning": facts}, {})
    chosen = dict(zip(work["parameters"], work["points"][best(curve)], strict=True))
    return Outcome({"tuning": facts, "found": chosen, "trials": across}, {})


def _trials(task: Task) -> tuple[list[JSON], Callable[[int], Hits]]:
    """The values that were tried, as the leaderboard shows them, and a function that gives the hits of
    each."""
    work = task.work
    if "trials" not in work:
        merged = combiner(task)
        return work["values"], lambda i: merged(work["values"][i])
    names, points = work["parameters"], work["points"]
    if len(names) == 1 and all(type(point[0]) in (int, float) for point in points):
        values: list[JSON] = [point[0] for point in points]
    else:
        pairs = [zip(names, point, strict=True) for point in points]
        values = [", ".join(f"{name}={_word(value)}" for name, value in pair) for pair in pairs]
    return values, lambda i: hits_files.load(task.store.read(work["trials"][i]))


def _word(value: JSON) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def best(curve: Sequence[float]) -> int:
    """The place of the highest value of the curve. Of equal values the first wins: the smaller parameter."""
    return int(np.argmax(curve))


def _across(tried: Sequence[Scored], folds: int, fold_of: NDArray[np.int64]) -> list[int]:
    """For each fold, the place of the trial that is best on the queries of all other folds."""
    if len(np.unique(fold_of)) < 2:
        raise HarnessError(f"{folds} folds of {len(fold_of)} judged queries; take fewer")
    return [best([score.mean(one, fold_of != fold) for one in tried]) for fold in range(folds)]
