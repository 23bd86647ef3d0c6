"""Estimates what a suite will cost: each step's time, memory and disk, from similar steps in the store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness import steps as kinds
from harness.execution.alike import Alike, alike, record_in
from harness.execution.growth import at
from harness.execution.sizes import kept_by_makers, sizes_of, with_made
from harness.plan.graph import Plan, Step
from harness.steps.sizes import Amount, Counts
from harness.store.artifacts import Store
from harness.store.manifest import Artifact, Corrupt
from harness.types import JSON


class Measured(NamedTuple):
    """The cost of one finished step."""

    corpus: str  # the id of the corpus that the step read
    work: Amount
    seconds: float  # on a free machine
    cpu_seconds: float
    bytes: float
    peak_mb: float


class Estimate(NamedTuple):
    """The expected cost of one step on a free machine; None where the store has no similar step."""

    step: Step
    work: Amount | None
    seconds: float | None
    cpu_seconds: float | None
    bytes: float | None
    peak_mb: float | None


Costs = Mapping[Alike, Sequence[Measured]]


def estimates(
    plan: Plan, artifacts: Mapping[str, Artifact], steps: Iterable[str],
    trials: Mapping[str, str] | None = None,
) -> list[Estimate]:  # fmt: skip
    """The estimate of each step, from the costs and sizes in `artifacts`. A step without a known cost has no
    figures. `trials` has further corpora: the id of each, and the dataset that it is of."""
    datasets = {collection.parts.corpus.step: name for name, collection in plan.collections.items()
                if collection.parts is not None} | dict(trials or {})  # fmt: skip
    sizes, costs = with_made(sizes_of(artifacts), plan, kept_by_makers(artifacts)), measured(artifacts)
    record_of = record_in(plan.steps)
    listed = []
    for name in steps:
        step = plan.steps[name]
        work = step.record.amount(sizes)
        known = _alike(step, alike(step.record, record_of), costs, datasets)
        if work is None or not known:
            listed.append(Estimate(step, work, None, None, None, None))
            continue
        counts = [one.work for one in known]
        listed.append(
            Estimate(
                step, work, at(counts, [one.seconds for one in known], work),
                at(counts, [one.cpu_seconds for one in known], work),
                at(counts, [one.bytes for one in known], work), _memory(step, work, known),
            )
        )  # fmt: skip
    return listed


def _memory(step: Step, work: Amount, known: Sequence[Measured]) -> float:
    """The memory that a step takes. It depends at most on the texts: few queries are searched at a time."""
    peaks = [one.peak_mb for one in known]
    searches = isinstance(step.record, kinds.Search)
    if searches or isinstance(step.record, kinds.Augment | kinds.Index):
        texts = [[one.work[-1] / (max(one.work[0], 1) if searches else 1)] for one in known]
        wanted = [work[-1] / (max(work[0], 1) if searches else 1)]
        if len(np.unique(texts)) > 1:
            return max(min(peaks), at(texts, peaks, wanted, steady=True))
    return max(peaks)


def read_all(store: Store) -> dict[str, Artifact]:
    """The manifests of all artifacts in the store that this version can read, by the id of the step."""
    artifacts = {}
    for name in store.steps():
        with contextlib.suppress(Corrupt):
            artifact = store.read(name, trust=True)
            if artifact.record:  # raises Corrupt if another version of the harness has written it
                artifacts[name] = artifact
    return artifacts


def measured(artifacts: Mapping[str, Artifact]) -> dict[Alike, list[Measured]]:
    """The costs of these artifacts, by kind, method and parameters."""
    costs: dict[Alike, list[Measured]] = {}
    sizes, record_of = sizes_of(artifacts), record_in(artifacts)
    for artifact in artifacts.values():
        record, cost = artifact.record, artifact.cost
        work = record.counted(Counts(artifact.facts, cost), sizes)
        if work is not None and any(work):
            corpus = next((step for step in record.inputs if step in sizes.corpora), "")
            numbers = (float(cost[name]) for name in ("cpu_seconds", "bytes", "peak_mb"))
            one = Measured(corpus, work, free_seconds(cost), *numbers)
            costs.setdefault(alike(record, record_of), []).append(one)
    return costs


def free_seconds(cost: Mapping[str, JSON]) -> float:
    """The seconds that a step would have taken on a free machine, where it waits for no core."""
    return max(0.0, float(cost["seconds"]) - float(cost.get("queued_seconds", 0.0)))


def _alike(step: Step, wanted: Alike, measured: Costs, datasets: Mapping[str, str]) -> Sequence[Measured]:
    """The costs of the step's method: with the same parameters on the same dataset, else with the same
    parameters, else with any, unless these change the cost by any factor, as the epochs of a training do."""
    exact = measured.get(wanted, ())
    same = [one for one in exact if datasets.get(one.corpus) == step.dataset]
    known = same or exact
    if known or isinstance(step.record, kinds.Train | kinds.Make):
        return known
    return [one for other, costs in measured.items() if other[:2] == wanted[:2] for one in costs]
