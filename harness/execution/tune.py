"""The steps that try every value of parameters and keep the whole curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.execution import folding
from harness.execution.combine import combiner, learner
from harness.execution.task import Outcome, Task
from harness.scoring import protocols, score
from harness.scoring.score import Scored, judged_by, scores_of
from harness.steps.tune import Trials, Tune
from harness.types import JSON, Hits

if TYPE_CHECKING:
    from numpy.typing import NDArray


def tune(step: Tune, task: Task) -> Outcome:
    """Try each value of one number of a combiner."""
    merged, values = combiner(step, task, step.parameter), step.values
    curve = _compared(step, task, list(values), lambda i: merged(values[i]), step.parameter)
    if step.learned is None:
        return Outcome({"tuning": curve.facts}, {})
    method, features = learner(step, task)
    seen, scores = features(slice(None))[curve.queries], np.stack([one.values for one in curve.tried], axis=1)
    models = [
        dict(method.learn(seen[rows], np.array(values, np.float64), scores[rows]))
        for rows in curve.learned_on
    ]
    return Outcome({"tuning": {**curve.facts, "learned": models}}, {})


def trials(step: Trials, task: Task) -> Outcome:
    """Compare the hits of each point of a method's parameters."""
    names, points = step.parameters, step.points
    if len(names) == 1 and all(type(point[0]) in (int, float) for point in points):
        values: list[JSON] = [point[0] for point in points]
    else:
        pairs = [zip(names, point, strict=True) for point in points]
        values = [", ".join(f"{name}={_word(value)}" for name, value in pair) for pair in pairs]
    curve = _compared(step, task, values, lambda i: task.hits(step.hits[i]), ", ".join(names))
    best_point = dict(zip(names, points[curve.best], strict=True))
    return Outcome({"tuning": curve.facts, "found": best_point, "trials": curve.of_folds}, {})


class _Curve(NamedTuple):
    facts: dict[str, JSON]
    best: int  # the place of the best value
    of_folds: list[int] | None  # for each fold, the place of the value that is best on the others
    queries: NDArray[np.int64]  # int64[S]: the number of each scored query
    tried: list[Scored]  # of each value
    learned_on: list[NDArray[np.bool_]]  # for each fold, the queries of the others: bool[S]; else all queries


def _compared(
    step: Tune | Trials, task: Task, values: list[JSON], hits_of: Callable[[int], Hits], parameter: str
) -> _Curve:
    """The scores of the hits that `hits_of` gives for each of `values`."""
    read, queries, rules = task.corpus(step.corpus), task.queries(step.queries), step.measured.rules
    judged = judged_by(rules, read, queries, task.judgements(step.judgements))
    plugin_measures = protocols.measures_of_plugins(task.catalogue)
    column, _ = protocols.column(step.measured.name, plugin_measures)
    if step.unit == "document":
        column = column._replace(unit="document")
    tried: list[Scored] = []
    scored = np.zeros(0, np.int64)
    for i in range(len(values)):
        task.progress(i, len(values))
        scores = scores_of(rules, hits_of(i), judged, [column], read, queries, plugin_measures, strict=True)
        tried.append(scores.columns[0])
        scored = scores.queries
    task.progress(len(tried), len(tried))
    curve = [score.mean(one, np.ones(len(scored), np.bool_)) for one in tried]
    slices = sorted({name for names in queries.slices for name in names})
    of_slice = {name: np.array([name in queries.slices[i] for i in scored.tolist()]) for name in slices}
    across, learned_on = None, [np.ones(len(scored), np.bool_)]
    if step.folds:
        fold_of = folding.folds(queries.ids, step.folds)[scored]
        learned_on = [fold_of != fold for fold in range(step.folds)]
        across = _across(tried, step.folds, fold_of)
    facts = {
        "parameter": parameter,
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
    return _Curve(facts, best(curve), across, scored, tried, learned_on)


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
