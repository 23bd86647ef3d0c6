"""A kind of step has one name in every room: its record, its planning and its execution."""

from pathlib import Path
from typing import get_args

import pytest

from harness import steps
from harness.execution.executors import CUTTINGS

HARNESS = Path(__file__).parents[3] / "harness"
MODULES = sorted({kind.__module__.rpartition(".")[2] for kind in get_args(steps.Whole)})
ROOMS = ("steps", "plan", "execution")


@pytest.mark.parametrize("module", MODULES)
def test_a_kind_has_a_module_of_its_name_in_every_room(module: str) -> None:
    assert [room for room in ROOMS if not (HARNESS / room / f"{module}.py").is_file()] == []


def test_a_step_that_can_be_cut_is_cut_by_the_module_of_its_name() -> None:
    assert {*CUTTINGS} == {kind for kind in get_args(steps.Whole) if kind.is_cuttable}
    for record, cutting in CUTTINGS.items():
        assert {function.__module__.rpartition(".")[2] for function in cutting} == {
            record.__module__.rpartition(".")[2]
        }
