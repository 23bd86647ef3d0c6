"""Time that numba spends compiling is told apart from a step's own, whichever way a method names numba."""

from types import SimpleNamespace

import numba
import pytest

from harness.execution import steps
from harness.execution.steps.task import Outcome, Task
from harness.records import Retriever

WORK = {"method": {"kind": "retrievers", "name": "toy", "params": {}}}


def cost(monkeypatch, tmp_path, work=WORK, **said):
    """Of a step that compiles a function, by a method that says so much of itself."""

    def compiles(task):
        assert numba.njit(lambda x: x + 1)(1) == 2
        return Outcome({}, {})

    monkeypatch.setitem(steps.EXECUTORS, "toy", compiles)
    record = Retriever(name="toy", summary="a toy", build=lambda params: None, **said)
    catalogue = SimpleNamespace(find=lambda kind, name: SimpleNamespace(record=record))
    return steps.execute(Task("toy", work, tmp_path, None, catalogue, lambda done, of: None)).cost


@pytest.mark.parametrize(
    "said",
    [{"libraries": ("numba",)}, {"libraries_by_param": lambda params: {"search": ("numba",)}}],
    ids=["in every case", "with a parameter"],
)
def test_compiling_is_no_part_of_a_step_s_own_time(monkeypatch, tmp_path, said):
    told = cost(monkeypatch, tmp_path, **said)
    assert told["compile_seconds"] > told["seconds"] > 0


def test_a_method_that_does_not_name_numba_is_not_listened_to(monkeypatch, tmp_path):
    assert "compile_seconds" not in cost(monkeypatch, tmp_path)
    assert "compile_seconds" not in cost(monkeypatch, tmp_path, work={})
