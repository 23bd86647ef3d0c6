"""The share of a time in which a process waited for a core."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.execution import run_queue


class Machine:
    """A clock, and the files in which Linux says how long threads have waited for a core."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.cpu = folder, 100.0, 10.0

    def thread(self, name: str, waited: float) -> None:
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "schedstat").write_text(f"123 {round(waited * 1e9)} 45\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setattr(run_queue, "THREADS", tmp_path)
    monkeypatch.setattr(run_queue, "cores", lambda: 2)
    monkeypatch.setattr(run_queue.time, "perf_counter", lambda: made.clock)
    monkeypatch.setattr(run_queue.time, "process_time", lambda: made.cpu)
    made.thread("1", 5.0)
    made.thread("2", 50.0)
    return made


def test_the_waits_of_the_thread_that_waited_longest_count(machine: Machine) -> None:
    share = run_queue.watch()
    machine.clock += 10
    machine.cpu += 2
    machine.thread("1", 6.0)
    machine.thread("2", 52.0)
    machine.thread("3", 4.0)  # a new one
    assert share() == pytest.approx(0.4)


def test_waits_for_anything_but_a_core_do_not_count(machine: Machine) -> None:
    share = run_queue.watch()
    machine.clock += 10
    assert share() == 0


def test_the_processor_time_on_all_cores_is_needed_in_any_case(machine: Machine) -> None:
    share = run_queue.watch()
    machine.clock += 10
    machine.cpu += 16
    machine.thread("2", 58.0)  # while other threads of the process used both cores
    assert share() == pytest.approx(0.2)


def test_where_the_system_does_not_say_the_share_is_unknown(machine: Machine, tmp_path: Path) -> None:
    share = run_queue.watch()
    machine.clock += 10
    for name in "12":
        (tmp_path / name / "schedstat").write_text("")
    assert share() is None


@pytest.mark.skipif(not run_queue.THREADS.exists(), reason="only Linux has /proc")
def test_linux_says_how_long_this_process_waits() -> None:
    share = run_queue.watch()
    assert sum(range(1000)) == 499500
    waited = share()
    assert waited is not None
    assert 0 <= waited <= 1
