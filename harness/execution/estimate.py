"""Estimates what a suite will cost: each step's time, memory and disk, from the costs of similar steps that
the store has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.collection.corpus import Corpus
from harness.collection.queries import read_queries
from harness.plan.graph import Plan, Step
from harness.plan.kinds import PARTS
from harness.store.artifacts import Artifact, Corrupt, Store
from harness.types import JSON


class Sizes(NamedTuple):
    """The size of a dataset."""

    passages: int
    documents: int
    queries: int


class Measured(NamedTuple):
    """The cost of one finished step."""

    units: float  # the amount of work, as `_units` counts it
    seconds: float
    bytes: float
    peak_mb: float


class Estimate(NamedTuple):
    """The expected cost of one step; None for each number where the store has no similar step."""

    step: Step
    units: float
    seconds: float | None
    bytes: float | None
    peak_mb: float | None


def estimates(plan: Plan, store: Store, steps: Iterable[str], sizes: Mapping[str, Sizes]) -> list[Estimate]:
    """The estimate of each step, from the sizes of the datasets. Steps without a known cost are listed
    too."""
    measured = _measured(store)
    listed = []
    for name in steps:
        step = plan.steps[name]
        units = _units(step, sizes.get(step.dataset))
        known = _alike(step, measured)
        listed.append(_estimate(step, units, known) if units is not None and known
                      else Estimate(step, units or 0.0, None, None, None))  # fmt: skip
    return listed


def sizes_of(plan: Plan, store: Store) -> dict[str, Sizes]:
    """The sizes of the datasets whose corpus and queries are in the store, by name."""
    sizes = {}
    for name, collection in plan.collections.items():
        with contextlib.suppress(Corrupt, KeyError):
            corpus = Corpus(store.read(collection.parts["corpus"], trust=True).folder)
            queries = read_queries(store.read(collection.parts["queries"], trust=True).folder)
            sizes[name] = Sizes(corpus.passages, corpus.documents, len(queries.ids))
    return sizes


def _units(step: Step, sizes: Sizes | None) -> float | None:
    """The amount of work of a step, in the unit that its time grows with: texts, pairs, queries, or queries
    times texts. None if the amount is not known."""
    if sizes is None or step.kind in PARTS:
        return None
    texts = sizes.documents if _unit(step.work) == "document" else sizes.passages
    if step.kind in ("augment", "index"):
        return texts
    if step.kind == "search":
        return float(sizes.queries) * texts
    if step.kind == "rerank":
        return float(sizes.queries * step.work["depth"])
    return float(sizes.queries)


def _unit(work: Mapping[str, JSON]) -> str:
    return str(work.get("texts", {}).get("unit", "passage"))


def _measured(store: Store) -> dict[tuple[str, str, str], list[Measured]]:
    """The costs of all artifacts in the store, by kind, method and parameters."""
    found: dict[tuple[str, str, str], list[Measured]] = {}
    counts: dict[str, float] = {}  # id of an index -> number of its texts
    artifacts = []
    for name in store.steps():
        with contextlib.suppress(Corrupt):
            artifacts.append(store.read(name, trust=True))
    for artifact in artifacts:
        if "texts" in artifact.facts and artifact.described["kind"] == "index":
            counts[artifact.id] = artifact.facts["texts"]
    for artifact in artifacts:
        units = _units_of(artifact, counts)
        if units:
            cost = artifact.cost
            spent = cost.get(f"{artifact.described['kind']}_seconds", cost["seconds"])
            one = Measured(units, max(spent, cost["seconds"]), cost["bytes"], cost["peak_mb"])
            found.setdefault(_kind(artifact.described), []).append(one)
    return found


def _units_of(artifact: Artifact, texts_of_index: Mapping[str, float]) -> float | None:
    kind, cost, facts = artifact.described["kind"], artifact.cost, artifact.facts
    if kind == "index":
        return float(facts["texts"])
    if kind == "augment":
        return float(facts["reported"]["passages"])
    if kind == "search":
        index = next((step for step in artifact.described["inputs"] if step in texts_of_index), None)
        return None if index is None else float(cost["queries"]) * texts_of_index[index]
    if kind == "rerank":
        return float(cost["pairs"])
    return float(cost["queries"]) if kind == "combine" else None


def _kind(described: Mapping[str, JSON]) -> tuple[str, str, str]:
    method = described.get("method", {})
    return described["kind"], str(method.get("name")), str(sorted(method.get("params", {}).items()))


def _alike(step: Step, measured: Mapping[tuple[str, str, str], Sequence[Measured]]) -> Sequence[Measured]:
    """The costs of the step's method with the same parameters; if there are none, with any parameters."""
    kind, name, params = _kind(step.described)
    exact = measured.get((kind, name, params))
    return exact or [one for key, costs in measured.items() if key[:2] == (kind, name) for one in costs]


def _estimate(step: Step, units: float, known: Sequence[Measured]) -> Estimate:
    """The estimate on the straight line through the smallest and the largest measured step. If the largest
    has less than twice the units of the smallest, time and disk are in proportion to the largest, and the
    memory is that of the largest."""
    first, last = min(known, key=lambda one: one.units), max(known, key=lambda one: one.units)
    if last.units < 2 * first.units:
        share = units / last.units
        return Estimate(step, units, last.seconds * share, last.bytes * share, last.peak_mb)

    def at(low: float, high: float) -> float:
        slope = max(0.0, (high - low) / (last.units - first.units))
        return max(0.0, high + slope * (units - last.units))

    return Estimate(
        step, units, at(first.seconds, last.seconds), at(first.bytes, last.bytes),
        at(first.peak_mb, last.peak_mb),
    )  # fmt: skip
