"""Estimates what a suite will cost: each step's time, memory and disk, from the costs of similar steps that
the store has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.execution.growth import at
from harness.execution.step_work import (
    Key,
    Work,
    described_in,
    kept_by_makers,
    key_of,
    sizes_of,
    with_made,
    work_done,
    work_of,
)
from harness.plan.graph import Plan, Step
from harness.plan.kinds import MAKE, of_kind
from harness.store.artifacts import Store
from harness.store.manifest import Artifact, Corrupt
from harness.types import JSON


class Measured(NamedTuple):
    """The cost of one finished step."""

    corpus: str  # the id of the corpus that the step read
    work: Work
    seconds: float  # on a free machine
    cpu_seconds: float
    bytes: float
    peak_mb: float


class Estimate(NamedTuple):
    """The expected cost of one step on a free machine; None for each number where the store has no similar
    step."""

    step: Step
    work: Work | None
    seconds: float | None
    cpu_seconds: float | None
    bytes: float | None
    peak_mb: float | None


Costs = Mapping[Key, Sequence[Measured]]


def estimates(
    plan: Plan, artifacts: Mapping[str, Artifact], steps: Iterable[str],
    trials: Mapping[str, str] | None = None,
) -> list[Estimate]:  # fmt: skip
    """The estimate of each step, from the costs and sizes in `artifacts`. A step without a known cost is
    listed without figures. `trials` has further corpora: it maps the id of each to the dataset that it is a
    part of."""
    datasets = {collection.parts["corpus"]: name for name, collection in plan.collections.items()
                if "corpus" in collection.parts} | dict(trials or {})  # fmt: skip
    sizes, costs = with_made(sizes_of(artifacts), plan, kept_by_makers(artifacts)), measured(artifacts)
    described_of = described_in(plan.steps)
    listed = []
    for name in steps:
        step = plan.steps[name]
        work = work_of(step.described, described_of, sizes)
        known = _alike(step, key_of(step.described, described_of), costs, datasets)
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


def _memory(step: Step, work: Work, known: Sequence[Measured]) -> float:
    """The memory that a step takes. It depends at most on the number of texts, because queries are searched a
    few at a time."""
    peaks = [one.peak_mb for one in known]
    if step.kind in ("augment", "index", "search"):
        texts = [[one.work[-1] / (max(one.work[0], 1) if step.kind == "search" else 1)] for one in known]
        wanted = [work[-1] / (max(work[0], 1) if step.kind == "search" else 1)]
        if len(np.unique(texts)) > 1:
            return max(min(peaks), at(texts, peaks, wanted, steady=True))
    return max(peaks)


def read_all(store: Store) -> dict[str, Artifact]:
    """The manifests of all artifacts in the store, by the id of the step."""
    artifacts = {}
    for name in store.steps():
        with contextlib.suppress(Corrupt):
            artifacts[name] = store.read(name, trust=True)
    return artifacts


def measured(artifacts: Mapping[str, Artifact]) -> dict[Key, list[Measured]]:
    """The costs of these artifacts, by kind, method and parameters."""
    costs: dict[Key, list[Measured]] = {}
    sizes, described_of = sizes_of(artifacts), described_in(artifacts)
    for artifact in artifacts.values():
        work = work_done(artifact, artifacts, sizes)
        if work is not None and any(work):
            inputs, cost = artifact.described.get("inputs", ()), artifact.cost
            corpus = next(iter(of_kind("corpus", inputs)), "")
            numbers = (float(cost[name]) for name in ("cpu_seconds", "bytes", "peak_mb"))
            one = Measured(corpus, work, free_seconds(cost), *numbers)
            costs.setdefault(key_of(artifact.described, described_of), []).append(one)
    return costs


def free_seconds(cost: Mapping[str, JSON]) -> float:
    """The seconds that a step would have taken on a free machine, where it waits for no core."""
    return max(0.0, float(cost["seconds"]) - float(cost.get("queued_seconds", 0.0)))


def _alike(step: Step, wanted: Key, measured: Costs, datasets: Mapping[str, str]) -> Sequence[Measured]:
    """The costs of the step's method: with the same parameters on the same dataset; if there are none, with
    the same parameters; if there are none, with any parameters, unless these change the cost by any factor,
    as the epochs of a training do."""
    exact = measured.get(wanted, ())
    same = [one for one in exact if datasets.get(one.corpus) == step.dataset]
    alike = same or exact
    if alike or step.kind in ("train", MAKE):
        return alike
    return [one for key, costs in measured.items() if key[:2] == wanted[:2] for one in costs]
