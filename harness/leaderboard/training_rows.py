"""What a row records about models that the suite made: their steps, their cost, their training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from harness.catalogue import OWN
from harness.collection.queries import read_queries
from harness.leaderboard import model
from harness.made_models import STEP
from harness.plan.graph import Plan, Row, Step
from harness.plan.keys import library
from harness.plan.kinds import of_kind
from harness.scoring.overlap import NEAR, overlap
from harness.store.artifacts import Store
from harness.types import JSON

MAKING = ("train", "validate")
USERS = ("index", "search", "rerank")  # the steps that read a model
DRAWING = ("seed", "segment", "take", "draw", "share", "queries")


class MadeModel(NamedTuple):
    """A reference to a made model, as it occurs in the parameters of a row's steps."""

    step: str  # the step that trained the model or chose its checkpoint
    part: str


def models_of(row: model.Row) -> list[MadeModel]:
    """The made models that a row's own steps read, each once."""
    text = orjson.dumps([step.params for step in row.provenance.steps if step.step in USERS]).decode()
    return list(dict.fromkeys(MadeModel(*match) for match in STEP.findall(text)))


def described(step: Step) -> dict[str, JSON]:
    """A step as a row records it: its method with parameters and versions. For a step of the harness itself,
    the parameters are the settings of the step."""
    if "method" not in step.described:
        usual = ("kind", "format", "inputs")
        params = {key: value for key, value in step.described.items() if key not in usual}
        version = str(step.described["format"])
        return {
            "name": step.kind, "version": version, "sources": None, "libraries": {}, "params": params,
            "plugin": f"{OWN} {library(OWN)}",
        }  # fmt: skip
    method: dict[str, JSON] = {**step.described["method"], "plugin": step.work["method"]["plugin"]}
    if step.kind != "train":
        return method
    return {**method, "training": {key: step.described[key] for key in DRAWING}}


def making_costs(row: Row, plan: Plan, store: Store) -> list[JSON]:
    """The costs of the steps that made a row's models, with their negatives and validation; empty if the row
    has no made model."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    making = [step.id for step in plan.steps.values() if step.id in ancestors and step.kind in MAKING]
    if not making:
        return []
    ranking_steps = plan.ancestors([row.hits], stop_at=lambda step: step.kind in MAKING)
    spent = {*plan.ancestors(making), *making} - (ranking_steps - set(making))
    return [store.read(step, trust=True).cost for step in sorted(spent)]


def joules(costs: Iterable[JSON]) -> float | None:
    """The sum of the energy of some steps, or None if the energy of any of them is unknown."""
    energy = [spent.get("energy_joules") for spent in costs]
    return round(sum(energy), 1) if energy and None not in energy else None


def pace(row: Row, plan: Plan, store: Store) -> dict[str, JSON]:
    """The speed of the last training of a row's models, and the largest memory of any of them. Empty if none
    was trained."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    trained = [step.id for step in plan.steps.values() if step.id in ancestors and step.kind == "train"]
    if not trained:
        return {}
    costs = [store.read(step, trust=True).cost for step in trained]
    numbers: dict[str, JSON] = {"training_peak_mb": max(cost["peak_mb"] for cost in costs)}
    if "tokens_per_second" in costs[-1]:
        numbers["training_tokens_per_second"] = round(costs[-1]["tokens_per_second"], 1)
    return numbers


def flags(row: Row, plan: Plan, texts: Sequence[str], store: Store) -> list[str]:
    """A flag if queries of the scored split also occur in the data that a row's models were trained on."""
    assert row.hits is not None
    ancestors = plan.ancestors([row.hits])
    trained: list[str] = []
    for step in plan.steps.values():
        if step.kind == "examples" and step.id in ancestors:
            queries = of_kind("queries", step.inputs)[0]
            trained += read_queries(store.read(queries).folder).texts
    if not trained:
        return []
    shared = overlap(texts, trained)
    if not (shared.same or shared.near):
        return []
    return [
        f"{shared.same} of {len(texts)} queries stand in what its models were trained on, and {shared.near} "
        f"more nearly so (character trigrams, Jaccard similarity of {NEAR} or more)"
    ]
