"""`resources` beside a plugin: read, refused with its place, and in no key."""

from pathlib import Path

import pytest

from harness import catalogue, plan
from harness.errors import HarnessError
from harness.store.artifacts import Store
from harness.suite import load

SUITE = """
suite: resources
datasets: [tour]
systems:
  one: {retriever: {bm25: {k1: 1.2}, resources: RESOURCES}}
measures: [nDCG@10]
"""


def steps(folder: Path, resources: str):
    path = folder / "suite.yaml"
    path.write_text(SUITE.replace("RESOURCES", resources))
    records = catalogue.load()
    return plan.build(load(path, records), records, Store(folder / "store").open().digests.of).steps


def test_they_reach_the_steps_and_change_no_key(tmp_path: Path) -> None:
    asked = steps(tmp_path, "{cpus: 2, gpus: 0.5, fast_disk: 1}")
    plain = steps(tmp_path, "{}")
    assert list(asked) == list(plain)
    index = next(step for step in asked.values() if step.kind == "index")
    assert index.record.method.resources == {"cpus": 2, "gpus": 0.5, "fast_disk": 1}


@pytest.mark.parametrize("resources", ["{cpus: many}", "{gpus: -1}", "3", "{cpus: true}"])
def test_strange_ones_are_refused_with_their_place(tmp_path: Path, resources: str) -> None:
    with pytest.raises(HarnessError, match=r"suite.yaml:5: systems.one.retriever.*resources.*expected"):
        steps(tmp_path, resources)


def test_a_training_may_ask_for_them(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("""
suite: resources
datasets: {tour: tour, other: {tour: {seed: 1}, scored: false}}
systems:
  trained: {retriever: {dense: {model: {made: de}}}}
models:
  de: {train: {dual-encoder: {init: ./absent, processes: 2}, resources: {gpus: 2}}, on: other/test}
measures: [nDCG@10]
""")
    records = catalogue.load()
    steps = plan.build(load(path, records), records, Store(tmp_path / "store").open().digests.of).steps
    training = next(step for step in steps.values() if step.kind == "train")
    assert training.record.method.resources == {"gpus": 2}
