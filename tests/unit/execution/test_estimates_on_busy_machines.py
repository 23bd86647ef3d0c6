"""Estimates are of a free machine, however busy the machine was when the steps of the store were measured."""

from pathlib import Path
from typing import Any

import pytest
from step_samples import INDEX

from harness.execution.estimate import free_seconds, measured
from harness.execution.executors import with_parts
from harness.store.manifest import Artifact


def cost(seconds: float, **more: float) -> dict[str, Any]:
    return {"seconds": seconds, "cpu_seconds": 2.0, "bytes": 10, "peak_mb": 5.0, **more}


def artifact(name: str, spent: dict[str, Any]) -> Artifact:
    return Artifact(name, Path(), INDEX.keyed, {"texts": 100}, spent, {})


def test_the_waits_for_a_core_are_left_out_of_what_a_step_has_cost() -> None:
    artifacts = {name: artifact(name, spent) for name, spent in {
        "index-1": cost(3.0, queued_seconds=0.5), "index-2": cost(40.0, queued_seconds=37.5),
    }.items()}  # fmt: skip
    [costs] = measured(artifacts).values()
    assert [one.seconds for one in costs] == [2.5, 2.5]
    assert [one.cpu_seconds for one in costs] == [2.0, 2.0]


def test_a_cost_without_a_count_of_waits_stands_as_it_is() -> None:
    assert free_seconds(cost(3.0)) == 3.0
    assert free_seconds(cost(3.0, queued_seconds=3.1)) == 0.0


def test_the_waits_of_parts_are_added_up() -> None:
    parts = [artifact("part-1", cost(30.0, queued_seconds=28.0)), artifact("part-2", cost(4.0))]
    joined = with_parts(cost(1.0, queued_seconds=0.5), parts)
    assert joined["seconds"] == 35.0
    assert free_seconds(joined) == pytest.approx(6.5)
