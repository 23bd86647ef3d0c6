"""A kind of step has one name in every room: its record, its planning and its execution."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.execution.executors import CUTTINGS, EXECUTORS

HARNESS = Path(__file__).parents[3] / "harness"
KINDS = [
    "analyse", "augment", "combine", "examples", "index", "label", "make", "read", "rerank", "rewrite", "search",
    "train", "tune", "validate",
]  # fmt: skip
ROOMS = ("steps", "plan", "execution")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_module_of_its_name_in_every_room(kind: str) -> None:
    assert [room for room in ROOMS if not (HARNESS / room / f"{kind}.py").is_file()] == []


def test_every_kind_is_executed_by_the_module_of_its_name() -> None:
    for record, execute in EXECUTORS.items():
        module = record.__module__.removeprefix("harness.steps.")
        assert module in (*KINDS, "subset")  # which `plan/validate.py` plans
        assert execute.__module__ == f"harness.execution.{module}"
    for record, cutting in CUTTINGS.items():
        assert {function.__module__.rpartition(".")[2] for function in cutting} == {
            record.__module__.rpartition(".")[2]
        }
