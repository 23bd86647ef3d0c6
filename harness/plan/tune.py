"""Plans the steps that find values of parameters, on another split or across folds of the scored queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.catalogue import params
from harness.plan.combine import Mixture
from harness.plan.graph import Collection, Graph
from harness.plan.methods import Resolved
from harness.steps.record import Ref
from harness.steps.results import Choice, Hits
from harness.steps.rules import Measured
from harness.steps.tune import Trials, Tune
from harness.suite import Chosen, System
from harness.suite.model import Search, Tuning
from harness.types import JSON, Unit


def step(
    graph: Graph, collection: Collection, system: str, combiner: Resolved, mixed: Mixture, tuning: Tuning,
    measured: Measured,
) -> Ref[Choice]:  # fmt: skip
    """The step that tunes one number of a combiner. `collection` is what is tuned on."""
    record = Tune(
        **mixed, judgements=collection.planned.judgements, parameter=tuning.parameter, values=tuning.values,
        folds=tuning.folds, measured=measured, on=place(tuning),
    )  # fmt: skip
    return graph.add(record, collection.spec.name, f"{system} on {record.on}", combiner.needs)


def trials(
    graph: Graph, collection: Collection, system: str, method: Resolved, hits: Sequence[Ref[Hits]],
    search: Search, measured: Measured, unit: Unit,
) -> Ref[Choice]:  # fmt: skip
    """The step that compares the hits of all points of a method's parameters."""
    parts = collection.planned
    record = Trials(
        method=method.method, hits=tuple(hits), corpus=parts.corpus, queries=parts.queries,
        judgements=parts.judgements, parameters=search.parameters, points=search.points, folds=search.folds,
        unit=unit, measured=measured, on=place(search),
    )  # fmt: skip
    return graph.add(record, collection.spec.name, f"{system} on {record.on}")


def place(tuning: Tuning | Search) -> str:
    """What a suite tunes on, in words."""
    return "/".join(tuning.on) if tuning.on else f"{tuning.folds} folds"


def tried(chosen: Chosen, values: Mapping[str, JSON]) -> Chosen:
    """The method with `values` for its searched parameters."""
    plain = {**params.plain(chosen.params), **values}
    converted, problems = params.convert(type(chosen.params), plain, Path())
    assert not problems  # each point was checked with the suite
    return chosen._replace(as_written={**chosen.as_written, **values}, params=converted, searched=None)


def replaced(system: System, change: Callable[[Chosen], Chosen]) -> System:
    """The system with `change` applied to its methods that have searched parameters."""

    def changed(chosen: Chosen) -> Chosen:
        return change(chosen) if chosen.searched is not None else chosen

    return system._replace(
        context=system.context and tuple(changed(item) for item in system.context),
        queries=tuple(item._replace(chosen=changed(item.chosen)) for item in system.queries),
        retriever=system.retriever and changed(system.retriever),
        combine=system.combine and changed(system.combine),
        rerank=tuple(item._replace(chosen=changed(item.chosen)) for item in system.rerank),
    )
