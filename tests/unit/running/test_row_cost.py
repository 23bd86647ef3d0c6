"""A cost that a row shows only if each of its steps has it: energy, and the latency of a whole system."""

import pytest

from harness.leaderboard.model import Latency
from harness.running.row_cost import _latency, joules


def test_the_energy_of_some_steps_is_known_if_that_of_each_is():
    assert joules([{"energy_joules": 1.5}, {"energy_joules": 2.0}]) == 3.5
    assert joules([{"energy_joules": 1.5}, {"seconds": 1.0}]) is None
    assert joules([]) is None


@pytest.mark.parametrize(
    ("stages", "latency"),
    [
        ([{"query_ms": [1.0, 5.0, 3.0]}], {"search_latency_ms": Latency(3.0, 4.8, 3)}),
        # the sums of the same queries: the sums of the medians would be 6
        ([{"query_ms": [1.0, 5.0, 3.0]}, {"query_ms": [9.0, 1.0, 3.0]}], {"search_latency_ms": Latency(6.0, 9.6, 3)}),
        ([{"query_ms": [1.0, 5.0, 3.0]}, {"query_ms": [400.0]}], {"search_latency_ms": Latency(401.0, 401.0, 1)}),
        ([{"query_ms": [1.0]}, {"no_latency": "service"}], {"no_latency": "service"}),
        ([{"query_ms": [1.0]}, {"seconds": 1.0}], {"no_latency": "unmeasured"}),
        ([{"query_ms": []}], {}),
        ([], {}),
    ],
)  # fmt: skip
def test_the_latency_of_a_system_is_that_of_all_its_stages(stages, latency):
    assert _latency(stages) == latency
