"""The cost of a row: what the first executions of its own steps took, as the store keeps it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from harness.leaderboard.model import ContextCost, Cost, Latency, ServiceCost
from harness.plan.graph import Step
from harness.running.provenance import Lineage
from harness.steps import Augment, Combine, Index, Rerank, Rewrite, Search, Train
from harness.store.artifacts import Store
from harness.types import JSON

AT_QUERY_TIME = {kind.counts_as for kind in (Rewrite, Search, Combine, Rerank)}


def cost(lineage: Lineage, store: Store) -> Cost:
    """The summed cost of a row's own steps. Writing the dataset in columnar form is not counted; tuning and
    training are counted in fields of their own."""
    costs = {step.id: store.read(step.id, trust=True).cost for step in lineage.own}
    kinds = [(step.record.counts_as, costs[step.id]) for step in lineage.own]
    methods = [(kind, spent) for kind, spent in kinds if kind is not None]
    searched = {id for step in lineage.own if not isinstance(step.record, Index) for id in step.inputs}
    compiling = sum(spent.get("compile_seconds", 0) for _, spent in methods)
    contexts = {
        step.record.method.name: _context(costs[step.id])
        for step in lineage.own
        if isinstance(step.record, Augment)
    }
    tuning = [store.read(step.id, trust=True).cost["seconds"] for step in lineage.tuning]
    making = [store.read(step.id, trust=True).cost for step in lineage.making]
    services = [spent["services"] for _, spent in methods if "services" in spent]
    by_kind: dict[str, JSON] = {}
    for kind in dict.fromkeys(kind for kind, _ in methods):
        seconds = [spent["seconds"] for other, spent in methods if other == kind]
        if seconds:
            by_kind[f"{kind}_seconds"] = round(sum(seconds), 3)
    return Cost(
        seconds=round(sum(spent["seconds"] for _, spent in methods), 3),
        cpu_seconds=round(sum(spent["cpu_seconds"] for _, spent in methods), 3),
        energy_joules=joules(spent for _, spent in methods),
        peak_mb=max(spent["peak_mb"] for _, spent in methods),
        bytes=sum(  # without the indexes that smaller ones were made from
            costs[step.id]["bytes"]
            for step in lineage.own
            if step.record.counts_as is not None
            and (step.id in searched or not isinstance(step.record, Index))
        ),
        compile_seconds=round(compiling, 3) if compiling else None,
        tuning_seconds=round(sum(tuning), 3) if tuning else None,
        training_seconds=round(sum(spent["seconds"] for spent in making), 3) if making else None,
        training_energy_joules=joules(making),
        **_pace(lineage.every, store),
        contexts=contexts or None,
        **_latency([spent for kind, spent in methods if kind in AT_QUERY_TIME]),
        services=_services(services) if services else None,
        **by_kind,
    )


def joules(costs: Iterable[JSON]) -> float | None:
    """The sum of the energy of some steps, or None if the energy of any of them is unknown."""
    energy = [spent.get("energy_joules") for spent in costs]
    return round(sum(energy), 1) if energy and None not in energy else None


def _pace(steps: Sequence[Step], store: Store) -> dict[str, JSON]:
    """The speed of the last training of a row's models, and the largest memory of any of them. Empty if none
    was trained."""
    costs = [store.read(step.id, trust=True).cost for step in steps if isinstance(step.record, Train)]
    if not costs:
        return {}
    numbers: dict[str, JSON] = {"training_peak_mb": max(spent["peak_mb"] for spent in costs)}
    if "tokens_per_second" in costs[-1]:
        numbers["training_tokens_per_second"] = round(costs[-1]["tokens_per_second"], 1)
    return numbers


def _services(spent: Sequence[JSON]) -> ServiceCost:
    retries: Counter[str] = Counter()
    for item in spent:
        retries.update(item["retries"])
    counts = {
        name: sum(item.get(name, 0) for item in spent)
        for name in ("requests", "unsure", "input_tokens", "cached_tokens", "output_tokens", "kept")
    }
    money = round(sum(item["money"] for item in spent), 6)
    return ServiceCost(**counts, money=money, retries=dict(sorted(retries.items())))


def _context(spent: JSON) -> ContextCost:
    speed = spent.get("words", 0) / max(spent["seconds"], 1e-6)
    return ContextCost(round(spent["seconds"], 3), round(speed, 1))


def _latency(stages: Sequence[JSON]) -> dict[str, JSON]:
    """The latency of a whole system: the times of its stages are added for each sampled query that all stages
    have, as if one stage ran after the other. If a stage has no times, the reason is returned instead."""
    reasons = [spent.get("no_latency", "unmeasured") for spent in stages if "query_ms" not in spent]
    if reasons:
        return {"no_latency": reasons[0]}
    of_queries = [sum(times) for times in zip(*(spent["query_ms"] for spent in stages), strict=False)]
    if not of_queries:
        return {}
    p50, p95 = np.percentile(of_queries, [50, 95]).round(3).tolist()
    return {"search_latency_ms": Latency(p50, p95, len(of_queries))}
