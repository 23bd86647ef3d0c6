"""How much longer a process takes because other processes use the cores."""

import threading
from pathlib import Path

import pytest

from harness.execution import run_queue


class Machine:
    """A clock, and the files in which Linux says what threads have done."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.cpu = folder, 100.0, 10.0
        self.own = str(threading.get_native_id())  # the thread that runs the test

    def thread(self, name: str, ran: float, queued: float) -> None:
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "schedstat").write_text(f"{round(ran * 1e9)} {round(queued * 1e9)} 45\n")

    def passes(self, seconds: float, cpu: float) -> None:
        self.clock += seconds
        self.cpu += cpu


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setattr(run_queue, "THREADS", tmp_path)
    monkeypatch.setattr(run_queue, "cores", lambda: 2)
    monkeypatch.setattr(run_queue.time, "perf_counter", lambda: made.clock)
    monkeypatch.setattr(run_queue.time, "process_time", lambda: made.cpu)
    made.thread(made.own, 5.0, 50.0)
    made.thread("other", 3.0, 30.0)
    return made


def test_the_time_in_the_queue_would_be_saved(machine: Machine) -> None:
    share = run_queue.watch()
    machine.passes(10, cpu=2)
    machine.thread(machine.own, 5.0 + 2, 50.0 + 8)
    assert share() == pytest.approx(0.8)


def test_waits_for_a_disk_or_a_service_would_not(machine: Machine) -> None:
    share = run_queue.watch()
    machine.passes(10, cpu=1)
    machine.thread(machine.own, 5.0 + 1, 50.0 + 4)  # and 5 s blocked
    assert share() == pytest.approx(0.4)


def test_waits_for_other_threads_shrink_as_these_do(machine: Machine) -> None:
    share = run_queue.watch()
    machine.passes(20, cpu=4)
    machine.thread(machine.own, 5.0 + 2, 50.0 + 8)  # blocked for 10 s
    machine.thread("other", 3.0 + 1, 30.0 + 4)  # which a free machine does in 1 s instead of 5
    machine.thread("new", 1.0, 4.0)
    assert share() == pytest.approx((8 + 10 * 0.8) / 20)


def test_threads_that_have_ended_are_taken_to_have_been_queued_like_the_others(machine: Machine) -> None:
    share = run_queue.watch()
    machine.passes(20, cpu=4)
    machine.thread(machine.own, 5.0 + 2, 50.0 + 6)  # blocked for 12 s; others ran for 2 s, and so needed 8 s
    assert share() == pytest.approx((6 + 8 * 0.75) / 20)


def test_the_processor_time_on_all_cores_is_needed_in_any_case(machine: Machine) -> None:
    share = run_queue.watch()
    machine.passes(10, cpu=16)
    machine.thread(machine.own, 5.0 + 4, 50.0 + 6)  # while other threads of the process used both cores
    machine.thread("other", 3.0 + 12, 30.0)
    assert share() == pytest.approx(0.2)


@pytest.mark.parametrize("content", [None, "", "1 x 2"])
def test_where_the_system_does_not_say_the_share_is_unknown(machine: Machine, content: str | None) -> None:
    share = run_queue.watch()
    machine.passes(10, cpu=1)
    file = machine.folder / machine.own / "schedstat"
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    assert share() is None


@pytest.mark.skipif(not run_queue.THREADS.exists(), reason="only Linux has /proc")
def test_linux_says_what_the_threads_of_this_process_do() -> None:
    share = run_queue.watch()
    assert sum(range(1000)) == 499500
    saved = share()
    assert saved is not None
    assert 0 <= saved <= 1
