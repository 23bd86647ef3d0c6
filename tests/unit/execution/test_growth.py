"""Costs at sizes that were not measured."""

import pytest

from harness.execution.growth import at


def test_a_constant_and_a_slope_are_told_apart() -> None:
    assert at([[100], [1000], [4000]], [3.1, 4.0, 7.0], [50_000]) == pytest.approx(53.0)


def test_growth_with_queries_and_with_queries_times_texts_are_told_apart() -> None:
    sizes = [(2, 64), (2, 512), (16, 512), (16, 4096), (128, 4096)]
    work = [(q, q * n) for q, n in sizes]
    costs = [0.2 + 0.01 * q + 1e-6 * q * n for q, n in sizes]
    assert at(work, costs, (1000, 1000 * 10**6)) == pytest.approx(0.2 + 10 + 1000, rel=0.01)


def test_of_two_fits_that_are_equally_good_the_estimate_lies_between() -> None:
    work = [(1, 10), (10, 100)]  # grows with queries, or as much with queries times texts
    assert 200 < at(work, [1, 10], (100, 100_000)) < 5000  # 100 by queries, 10,000 by queries times texts


def test_one_size_is_in_proportion_unless_the_cost_is_steady() -> None:
    assert at([[100]], [2.0], [300]) == pytest.approx(6.0)
    assert at([[100], [1000]], [50.0, 49.0], [10**6], steady=True) == pytest.approx(50, rel=0.1)


def test_a_cost_never_falls_with_the_work() -> None:
    assert at([[100], [200]], [2.0, 1.0], [10_000]) > 2.0
