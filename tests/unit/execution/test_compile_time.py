"""Time that numba spends compiling is told apart from a step's own, whichever way a method names numba."""

import threading
import time
from types import SimpleNamespace

import numba
import pytest
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from step_samples import changed

from harness.errors import HarnessError
from harness.execution import compile_time, executors
from harness.execution.task import Outcome, Task
from harness.records import Retriever
from harness.steps import Index, Label


def cost(monkeypatch, tmp_path, kind=Index, **said):
    """Of a step that compiles a function, by a method that says so much of itself."""

    def compiles(step, task):
        assert numba.njit(lambda x: x + 1)(1) == 2
        return Outcome({}, {})

    monkeypatch.setattr(executors, "_whole", compiles)
    record = Retriever(name="toy", summary="a toy", build=lambda params: None, **said)
    catalogue = SimpleNamespace(find=lambda kind, name: SimpleNamespace(record=record))
    return executors.execute(Task(changed(kind), tmp_path, None, catalogue, lambda done, of: None)).cost


@pytest.mark.parametrize(
    "said",
    [{"libraries": ("numba",)}, {"libraries_by_param": lambda params: {"search": ("numba",)}}],
    ids=["in every case", "with a parameter"],
)
def test_compiling_is_no_part_of_a_step_s_own_time(monkeypatch, tmp_path, said):
    began = time.perf_counter()
    told = cost(monkeypatch, tmp_path, **said)
    assert told["seconds"] > 0
    assert told["compile_seconds"] > 0
    assert told["seconds"] + told["compile_seconds"] <= time.perf_counter() - began


def test_a_step_that_fails_leaves_no_listener_in_its_process(monkeypatch, tmp_path):
    def listeners():
        return list(event._registered["numba:compile"])

    def fails(task):
        raise HarnessError("bad data")

    before = listeners()
    with monkeypatch.context() as patch:
        patch.setattr(numba, "njit", fails)
        with pytest.raises(HarnessError, match="bad data"):
            cost(patch, tmp_path, libraries=("numba",))
    assert listeners() == before


def test_a_method_that_does_not_name_numba_is_not_listened_to(monkeypatch, tmp_path):
    assert "compile_seconds" not in cost(monkeypatch, tmp_path)
    assert "compile_seconds" not in cost(monkeypatch, tmp_path, kind=Label, libraries=("numba",))


def test_processes_that_save_code_of_a_function_for_other_types_at_once_do_not_mix_it(tmp_path):
    compile_time.guard_cache()
    compile_time.guard_cache()  # once is enough
    first, second = (IndexDataCacheFile(str(tmp_path), "kernel", "stamp") for _ in range(2))
    other = threading.Thread(target=second.save, args=("float64", "code for float64"))
    save_index = first._save_index

    def late(overloads):
        other.start()  # it has chosen a file, and another process comes
        other.join(0.2)
        save_index(overloads)

    first._save_index = late
    first.save("float32", "code for float32")
    other.join()
    loaded = {key: first.load(key) for key in ("float32", "float64")}
    assert loaded == {key: f"code for {key}" for key in loaded}
