"""Estimates what a suite will cost: each step's time, memory and disk, from the costs of similar steps that
the store has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.collection.corpus import Corpus
from harness.collection.queries import read_queries
from harness.execution.growth import at
from harness.plan.graph import Plan, Step
from harness.plan.kinds import PARTS
from harness.store.artifacts import Store
from harness.store.manifest import Artifact, Corrupt
from harness.types import JSON

Work = tuple[float, ...]
"""The amount of work of a step: the counts that its cost grows with."""


class Sizes(NamedTuple):
    """The size of a dataset."""

    passages: int  # all, of which context is made
    candidates: int  # passages that can be retrieved
    documents: int
    queries: int


class Measured(NamedTuple):
    """The cost of one finished step."""

    corpus: str  # the id of the corpus that the step read
    work: Work
    seconds: float
    bytes: float
    peak_mb: float


class Estimate(NamedTuple):
    """The expected cost of one step; None for each number where the store has no similar step."""

    step: Step
    work: Work | None
    seconds: float | None
    bytes: float | None
    peak_mb: float | None


Key = tuple[str, ...]  # kind and method of a step, then its parameters and the unit of its texts
Costs = Mapping[Key, Sequence[Measured]]


def estimates(
    plan: Plan, measured: Costs, steps: Iterable[str], sizes: Mapping[str, Sizes],
    trials: Mapping[str, str] | None = None,
) -> list[Estimate]:  # fmt: skip
    """The estimate of each step, from the sizes of the datasets. A step without a known cost is listed
    without figures. `trials` has further corpora: it maps the id of each to the dataset that it is a part
    of."""
    datasets = {collection.parts["corpus"]: name for name, collection in plan.collections.items()
                if "corpus" in collection.parts} | dict(trials or {})  # fmt: skip
    listed = []
    for name in steps:
        step = plan.steps[name]
        work, known = work_of(step, sizes.get(step.dataset)), _alike(step, measured, datasets)
        if work is None or not known:
            listed.append(Estimate(step, work, None, None, None))
            continue
        counts = [one.work for one in known]
        listed.append(
            Estimate(
                step, work, at(counts, [one.seconds for one in known], work),
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


def sizes_of(plan: Plan, store: Store) -> dict[str, Sizes]:
    """The sizes of the datasets whose corpus and queries are in the store, by name."""
    sizes = {}
    for name, collection in plan.collections.items():
        with contextlib.suppress(Corrupt, KeyError):
            corpus = Corpus(store.read(collection.parts["corpus"], trust=True).folder)
            queries = read_queries(store.read(collection.parts["queries"], trust=True).folder)
            candidates = int(np.count_nonzero(corpus.candidate))
            sizes[name] = Sizes(corpus.passages, candidates, corpus.documents, len(queries.ids))
    return sizes


def work_of(step: Step, sizes: Sizes | None) -> Work | None:
    """The amount of work of a step: for context and indexes the texts, for re-ranking the pairs, for searches
    the queries and the queries times texts, otherwise the queries. None if it is not known."""
    if sizes is None or step.kind in PARTS:
        return None
    unit = step.work.get("texts", {}).get("unit", "passage")
    if step.kind == "augment":
        return (float(sizes.passages),)
    texts = float(sizes.documents if unit == "document" else sizes.candidates)
    if step.kind == "index":
        return (texts,)
    if step.kind == "search":
        return (float(sizes.queries), sizes.queries * texts)
    if step.kind == "rerank":
        return (float(sizes.queries * min(step.work["depth"], texts)),)
    return (float(sizes.queries),)


def measured(store: Store) -> dict[Key, list[Measured]]:
    """The costs of all artifacts in the store, by kind, method and parameters."""
    costs: dict[Key, list[Measured]] = {}
    texts: dict[str, float] = {}  # id of an index -> number of its texts
    artifacts = []
    for name in store.steps():
        with contextlib.suppress(Corrupt):
            artifacts.append(store.read(name, trust=True))
    for artifact in artifacts:
        if "texts" in artifact.facts and artifact.described["kind"] == "index":
            texts[artifact.id] = artifact.facts["texts"]
    for artifact in artifacts:
        work, inputs = _work_done(artifact, texts), artifact.described.get("inputs", ())
        if work is not None and work[0]:
            cost = artifact.cost
            corpus = next((step for step in inputs if step.startswith("corpus-")), "")
            one = Measured(corpus, work, cost["seconds"], cost["bytes"], cost["peak_mb"])
            costs.setdefault(key_of(artifact.described), []).append(one)
    return costs


def _work_done(artifact: Artifact, texts_of_index: Mapping[str, float]) -> Work | None:
    kind, cost, facts = artifact.described["kind"], artifact.cost, artifact.facts
    if kind == "index":
        return (float(facts["texts"]),)
    if kind == "augment":
        return (float(facts["reported"]["passages"]),)
    if kind == "search":
        index = next((step for step in artifact.described["inputs"] if step in texts_of_index), None)
        queries = float(cost["queries"])
        return None if index is None else (queries, queries * texts_of_index[index])
    if kind == "rerank":
        return (float(cost["pairs"]),)
    return (float(cost["queries"]),) if "queries" in cost else None


def key_of(described: Mapping[str, JSON]) -> Key:
    method, unit = described.get("method", {}), described.get("texts", {}).get("unit", "")
    return described["kind"], str(method.get("name")), str(sorted(method.get("params", {}).items())), unit


def _alike(step: Step, measured: Costs, datasets: Mapping[str, str]) -> Sequence[Measured]:
    """The costs of the step's method: with the same parameters on the same dataset; if there are none, with
    the same parameters; if there are none, with any parameters."""
    wanted = key_of(step.described)
    exact = measured.get(wanted, ())
    same = [one for one in exact if datasets.get(one.corpus) == step.dataset]
    alike = same or exact
    return alike or [one for key, costs in measured.items() if key[:2] == wanted[:2] for one in costs]
