"""What a killed run spent on work that is gone on with counts towards the step's cost."""

import time

import pytest

from harness.store import step_cost
from harness.store.step_cost import Spent, StepCost


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "step" / "files"
    folder.mkdir(parents=True)
    return folder


def spend(files, monkeypatch) -> Spent:
    """What was spent before. It takes 0.1 s, and goes on until it has been written that it took so long."""
    monkeypatch.setattr(step_cost, "EVERY", 0.02)
    with StepCost(files, time.process_time, lambda: 1.5) as spent:
        while step_cost._read(spent.path).seconds <= spent.before.seconds + 0.1:
            time.sleep(0.01)
    return spent.before


def test_a_second_run_adds_to_what_the_first_left(files, monkeypatch):
    assert spend(files, monkeypatch) == Spent()
    (files / "part").write_bytes(b"work")
    before = spend(files, monkeypatch)
    assert before.seconds > 0.1
    assert before.joules == 1.5
    again = spend(files, monkeypatch)
    assert again.seconds > before.seconds + 0.1
    assert again.joules == 3.0


def test_the_energy_is_not_known_where_the_machine_does_not_tell_it(files):
    assert StepCost(files, time.process_time, lambda: None).joules is None
    assert StepCost(files, time.process_time, lambda: 1.5).joules == 1.5


def test_the_energy_is_not_known_if_an_earlier_run_did_not_know_it(files, monkeypatch):
    (files / "part").write_bytes(b"work")
    (files.parent / "spent.json").write_bytes(b'{"seconds": 1.0, "cpu_seconds": 1.0, "joules": null}')
    assert StepCost(files, time.process_time, lambda: 1.5).joules is None


def test_work_that_is_done_again_is_not_counted_twice(files, monkeypatch):
    spend(files, monkeypatch)
    assert spend(files, monkeypatch) == Spent()  # nothing was left to go on from


def test_a_quick_step_writes_nothing(files):
    with StepCost(files, time.process_time, lambda: 1.5):
        pass
    assert not list(files.parent.glob("spent*"))


def test_a_damaged_record_counts_nothing(files, monkeypatch):
    (files / "part").write_bytes(b"work")
    (files.parent / "spent.json").write_bytes(b"{")
    assert StepCost(files, time.process_time, lambda: 1.5).before == Spent()
