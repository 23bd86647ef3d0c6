"""The work of steps that train models and make collections, and which of them cost alike."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness.execution.step_work import (
    CorpusSize,
    Sizes,
    described_in,
    kept_by_makers,
    key_of,
    sizes_of,
    with_made,
    work_done,
    work_of,
)

from harness.made_models import planned
from harness.plan.graph import Step
from harness.store.manifest import Artifact

SHA = "0" * 64
RAW = {"kind": "corpus", "method": {"name": "files"}, "inputs": []}


def step(
    kind: str, number: int, inputs: tuple[str, ...], work: dict[str, Any] | None = None, **described: Any
) -> Step:
    key = f"{number:064}"
    return Step(
        kind, key, "d", "", {"kind": kind, "inputs": list(inputs), **described}, work or {}, inputs, ()
    )


def finished(described: dict[str, Any], facts: dict[str, Any]) -> Artifact:
    return Artifact("an id", Path(), described, facts, {}, {})


def trained(number: int, **params: Any) -> Step:
    method = {"name": "dual-encoder", "params": params}
    return step("train", number, ("examples-0",), method=method, segment=[0, 2], take=3, queries=500)


def index(model: Any) -> dict[str, Any]:
    return {"kind": "index", "inputs": ["corpus-0"], "method": {"name": "dense", "params": {"model": model}},
            "texts": {"unit": "passage"}}  # fmt: skip


def test_a_trained_model_costs_what_the_model_costs_from_which_it_started() -> None:
    first = trained(1, init={"sha256": "a"}, epochs=1)
    second = trained(2, init=planned(first.id, "model"), epochs=3)
    chosen = step("validate", 3, ("search-9", second.id))
    joint = trained(4, init={"sha256": "c"}, init_reranker={"sha256": "b"})
    described_of = described_in({item.id: item for item in (first, second, chosen, joint)})
    key = key_of(index({"sha256": "a"}), described_of)
    assert key_of(index(planned(first.id, "model")), described_of) == key
    assert key_of(index(planned(chosen.id, "model")), described_of) == key
    assert key_of(index([planned(joint.id, "reranker")]), described_of) == key_of(
        index([{"sha256": "b"}]), described_of
    )
    assert key_of(index({"sha256": "b"}), described_of) != key
    unknown = planned(f"train-{SHA}", "model")
    assert unknown in key_of(index(unknown), described_of)[2]


def test_a_training_grows_with_its_examples_and_shrinks_with_its_segments() -> None:
    described = trained(1).described
    none = described_in({})
    assert work_of(described, none, Sizes({}, {"examples-0": 300})) == (300 * 5 / 2,)
    assert work_of(described, none, Sizes({}, {"examples-0": 900})) == (500 * 5 / 2,)
    assert work_of({**described, "queries": None}, none, Sizes({}, {"examples-0": 900})) == (900 * 5 / 2,)
    assert work_of(described, none, Sizes({}, {})) is None


def test_parts_that_are_not_made_yet_are_as_large_as_those_they_are_made_of() -> None:
    raw, asked = step("corpus", 0, (), method={}), step("queries", 1, (), method={})
    make = step("make", 2, (raw.id, asked.id), {"reads": {"corpus": raw.id, "queries": asked.id}})
    corpus = step("corpus", 3, (make.id,), {"made": make.id}, made="corpus")
    queries = step("queries", 4, (make.id,), {"made": make.id}, made="queries")
    search = step("search", 5, (queries.id, corpus.id))
    top = step("corpus", 6, (search.id, corpus.id, queries.id), {"subset": 4}, subset=4)
    examples = step("examples", 7, (search.id, corpus.id, queries.id), negatives={"depth": 20})
    steps = {item.id: item for item in (raw, asked, make, corpus, queries, search, top, examples)}
    plan: Any = SimpleNamespace(steps=steps)
    known = Sizes({raw.id: CorpusSize(100, 90, 10)}, {asked.id: 7})
    sizes = with_made(known, plan, {})
    assert sizes.corpora[corpus.id] == (100, 90, 10)
    assert sizes.corpora[top.id] == (100, 28, 10)
    assert sizes.queries == {asked.id: 7, queries.id: 7, examples.id: 7}
    assert work_of(make.described, described_in(steps), sizes) == (100, 7)
    assert work_of(examples.described, described_in(steps), sizes) == (140,)
    assert work_of(corpus.described, described_in(steps), sizes) == (1,)
    assert work_of(raw.described, described_in(steps), sizes) is None
    assert known == with_made(known, SimpleNamespace(steps={}), {})  # type: ignore[arg-type]


def test_a_maker_is_expected_to_leave_what_it_left_before() -> None:
    described = {"kind": "make", "method": {"name": "join", "params": {"limit": 9}}, "inputs": ["corpus-0"]}
    counts = {"before": {"passages": 90, "documents": 10}, "after": {"passages": 30, "documents": 10}}
    more = {"before": {"passages": 10, "documents": 0}, "after": {"passages": 10, "documents": 0}}
    artifacts = {f"make-{i}": finished(described, {"made": made}) for i, made in enumerate((counts, more))}
    kept = kept_by_makers(artifacts)
    assert list(kept.values()) == [{"passages": 0.4, "documents": 1.0}]
    raw = step("corpus", 0, (), method={})
    make = Step(
        "make",
        "1" * 64,
        "d",
        "",
        {**described, "inputs": [raw.id]},
        {"reads": {"corpus": raw.id}},
        (raw.id,),
        (),
    )
    corpus = step("corpus", 3, (make.id,), {"made": make.id}, made="corpus")
    plan: Any = SimpleNamespace(steps={item.id: item for item in (raw, make, corpus)})
    sizes = with_made(Sizes({raw.id: CorpusSize(1000, 500, 20)}, {}), plan, kept)
    assert sizes.corpora[corpus.id] == (400, 200, 20)


def test_a_part_of_a_step_that_is_not_joined_has_no_work_of_its_own() -> None:
    part = finished({"kind": "part", "of": "search-1", "blocks": [0, 8], "method": {}}, {})
    assert work_done(part, {}, sizes_of({"part-1": part})) is None


@pytest.mark.parametrize("there", [True, False])
def test_the_work_of_a_finished_making_is_what_it_read(there: bool) -> None:
    artifacts = {"make-2": finished({"kind": "make", "inputs": ["corpus-0", "queries-1", "queries-2"]}, {})}
    if there:
        facts = {"passages": 30, "candidates": 20, "documents": 4}
        artifacts["corpus-0"] = finished(RAW, facts)
        artifacts |= {f"queries-{i}": finished({"kind": "queries"}, {"queries": 5}) for i in (1, 2)}
    sizes = sizes_of(artifacts)
    assert work_done(artifacts["make-2"], artifacts, sizes) == ((30, 10) if there else None)
