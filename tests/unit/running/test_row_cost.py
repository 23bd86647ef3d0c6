"""The energy of a row's steps is known only if that of each step is."""

from __future__ import annotations

from harness.running.row_cost import joules


def test_the_energy_of_some_steps_is_known_if_that_of_each_is():
    assert joules([{"energy_joules": 1.5}, {"energy_joules": 2.0}]) == 3.5
    assert joules([{"energy_joules": 1.5}, {"seconds": 1.0}]) is None
    assert joules([]) is None
