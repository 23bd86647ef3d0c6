"""`--calibrate`: runs small parts of a suite's steps, to estimate the costs of the whole steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from harness.catalogue import Catalogue
from harness.errors import HarnessError
from harness.execution.alike import Alike, alike, record_in
from harness.execution.engine import limits_of, missing_needs
from harness.execution.estimate import free_seconds
from harness.execution.open_dataset import with_rebuilds
from harness.execution.progress import Reporter
from harness.plan.graph import Plan, Step
from harness.running import preparation
from harness.steps import Make, Train
from harness.steps.read import Read
from harness.steps.record import methods_in
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.suite import Changes
from harness.types import JSON

Costs = dict[tuple[str, Alike], dict[tuple[int, int], float]]  # dataset and key: seconds by size
# Numbers of queries and passages. Only one of the two grows at a time, to show how a cost grows with each.
# The queries grow first, because searches are no longer measured once an index takes long.
SHORT = ((2, 64), (16, 512))  # of an estimate without `--calibrate`: seconds a step, most of them its start
LEVELS = ((2, 64), (16, 64), (128, 64), (128, 512), (128, 4096), (128, 32768), (128, 262144))
ENOUGH = 1.0  # a step's cost is known if it took this many seconds more than `TIMES` its shortest time
TIMES = 2.0  # the times of the same step may differ by this factor
REPEATED = 10.0  # a training or making that took more seconds is not done again for the steps behind it
MOST = 20.0  # a step that took more seconds than this is not measured at a larger size
LONGEST = 60.0  # nor is one that took more by the clock, which a busy machine makes longer


def calibrate(
    suite: Path, catalogue: Catalogue, store: Store, changes: Changes, only: Sequence[str],
    planned: Plan, todo: Iterable[str], reporter: Reporter, levels: Sequence[tuple[int, int]] = LEVELS,
) -> dict[str, str]:  # fmt: skip
    """Run steps like those in `todo` on parts of the datasets, and leave their artifacts in the store. The
    parts grow until the work of each step takes clearly longer than its start. At the smallest size, a step
    spends nearly all of its time on its start. With the levels `SHORT`, nothing is trained, made, downloaded
    or paid for. Returns the name of the dataset for the id of each corpus of these parts."""
    corpora: dict[str, str] = {}
    costs: Costs = {_name(planned.steps[step], planned): {} for step in todo}
    for queries, passages in levels:
        smaller = changes._replace(
            limit=min(queries, changes.limit or queries), sample=min(passages, changes.sample or passages)
        )
        try:
            trial = preparation.read(suite, catalogue, store, only, smaller).plan
        except HarnessError as error:
            reporter.note(f"calibration: {error}")
            return corpora
        corpora |= {item.parts.corpus.step: name for name, item in trial.collections.items() if item.parts}
        wanted = _wanted(trial, costs, store, passages, levels is SHORT)
        if not wanted:
            return corpora
        reporter.note(f"calibration: {len(wanted)} steps with {queries} queries and {passages:,} passages")
        targets = [step.id for step in wanted]
        with_rebuilds(trial.steps, targets, lambda failed: None, store, reporter, 1, limits_of(trial.suite))
        for step in wanted:
            try:
                seconds = _seconds(store.read(step.id, trust=True).cost)
            except Corrupt:  # it failed, so its cost stays unknown
                seconds = float("inf")
            costs[_name(step, trial)][queries, passages] = seconds
    return corpora


def _name(step: Step, plan: Plan) -> tuple[str, Alike]:
    return step.dataset, alike(step.record, record_in(plan.steps))


def _wanted(trial: Plan, costs: Costs, store: Store, passages: int, short: bool) -> list[Step]:
    """The steps to measure. Of several steps that read a trained model and cost alike, only one is measured,
    so that only one model is trained."""
    wanted: dict[tuple[str, Alike] | str, Step] = {}
    for step in trial.steps.values():
        if _is_wanted(step, trial, costs, store, passages):
            ancestors = trial.ancestors([step.id])
            trained = any(isinstance(trial.steps[name].record, Train) for name in ancestors)
            if not short or not any(_is_dear(trial.steps[name]) for name in ancestors):
                wanted.setdefault(_name(step, trial) if trained else step.id, step)
    return list(wanted.values())


def _is_dear(step: Step) -> bool:
    """Whether a user must ask for a step's trial: it trains, it makes a collection, or it pays a service."""
    pays = any("service" in method.given for method in methods_in(step.record))
    return pays or isinstance(step.record, Train | Make)


def _is_wanted(step: Step, trial: Plan, costs: Costs, store: Store, passages: int) -> bool:
    """Whether to measure a step. It must be like a step of the suite that is still to do, and nothing that it
    needs may be missing. Its own cost may not be known already, nor that of a method that it depends on.
    Trainings and makings that it depends on must be short, because they are done again. A step that is no
    method and makes no collection is measured only while the queries grow."""
    if _name(step, trial) not in costs or missing_needs(trial.steps, store, [step.id]):
        return False
    of_method = step.record.counts_as is not None
    if isinstance(step.record, Read):
        return False
    if not of_method and not isinstance(step.record, Make) and passages > LEVELS[0][1]:
        return False
    for name in trial.ancestors([step.id]):
        item = trial.steps[name]
        known = costs.get(_name(item, trial), {}).values()
        if item.record.counts_as is not None or name == step.id:
            if known and _is_known(known):
                return False
        elif known and max(known) > REPEATED:
            return False
    return True


def _seconds(cost: Mapping[str, JSON]) -> float:
    """The seconds that a step took, without its waits for a core; infinity if the user waited too long for it
    to measure a larger one."""
    return free_seconds(cost) if cost["seconds"] <= LONGEST else float("inf")


def _is_known(seconds: Collection[float]) -> bool:
    """Whether a step's times at several sizes show the time of its work. Differences that come from a busy
    machine alone must not count as work: one second too many at 16 queries would become minutes at 5,000."""
    return max(seconds) > min(TIMES * min(seconds) + ENOUGH, MOST)
