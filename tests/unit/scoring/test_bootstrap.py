"""Bootstrap intervals: right, repeatable to the bit, and shared by columns."""

import os
import subprocess
import sys

import numpy as np
import pytest

from harness.scoring import bootstrap
from harness.scoring.bootstrap import Sample, summaries


def sample(part, whole=None, average="mean"):
    part = np.asarray(part, np.float64)
    return Sample(part, np.ones(len(part)) if whole is None else np.asarray(whole, np.float64), average)


def test_a_constant_has_an_interval_of_no_width():
    assert summaries([sample([0.25] * 40)], seed=1) == [(0.25, 0.25, 0.25, 40)]


def test_the_interval_of_a_mean_is_that_of_the_normal_approximation():
    values = np.random.default_rng(5).random(2000)
    found = summaries([sample(values)], seed=1, resamples=10_000)[0]
    error = values.std() / np.sqrt(len(values))
    assert found.mean == round(values.mean(), 6)
    assert abs(found.low - (values.mean() - 1.96 * error)) < 0.1 * error
    assert abs(found.high - (values.mean() + 1.96 * error)) < 0.1 * error


def test_resamples_are_those_of_a_plain_loop():
    values = np.array([0.0, 1.0, 0.5, 0.25, 1.0])
    words = np.random.PCG64(9).random_raw(5 * 50)
    halves = [half for word in words.tolist() for half in (word & 0xFFFFFFFF, word >> 32)]
    means = [np.mean([values[half * 5 >> 32] for half in halves[i : i + 5]]) for i in range(0, 500, 5)]
    found = summaries([sample(values)], seed=9, resamples=100)[0]
    assert (found.low, found.high) == tuple(np.round(np.quantile(means, (0.025, 0.975)), 6))


def test_a_ratio_is_of_sums_and_a_sum_is_a_sum():
    part, whole = [1.0, 0.0, 3.0], [2.0, 4.0, 4.0]
    ratio, total = summaries([sample(part, whole, "ratio"), sample(part, average="sum")], seed=1)
    assert (ratio.mean, total.mean) == (0.4, 4.0)
    assert 0.0 <= ratio.low < 0.4 < ratio.high <= 0.75
    assert 0.0 <= total.low < 4.0 < total.high <= 9.0


def test_a_query_without_a_denominator_counts_0_in_a_mean():
    assert summaries([sample([1.0, 0.0], [1.0, 0.0])], seed=1)[0].mean == 0.5


def test_columns_share_their_resamples():
    values = np.random.default_rng(2).random(100)
    one, half = summaries([sample(values), sample(values / 2)], seed=4)
    assert abs(one.low / 2 - half.low) <= 1e-6
    assert abs(one.high / 2 - half.high) <= 1e-6


def test_the_seed_decides():
    values = np.random.default_rng(2).random(50)
    first, again, other = (summaries([sample(values)], seed=seed)[0] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_nothing_gives_nothing():
    assert summaries([], seed=1) == []


@pytest.mark.parametrize("scale", [1.0, 1000.0, 1e9])
def test_sums_are_exact_in_whatever_order_they_are_taken(scale):
    values = bootstrap.exact(np.random.default_rng(3).random(7000) * scale)
    total = values.sum()
    for seed in range(20):
        assert np.random.default_rng(seed).permutation(values).cumsum()[-1] == total


def test_the_number_of_threads_changes_no_bit():
    code = (
        "import numpy as np; from harness.scoring.bootstrap import Sample, summaries;"
        "values = np.random.default_rng(1).random((6, 3000));"
        "print(summaries([Sample(row, np.ones(3000), 'mean') for row in values], 7, 500))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(outputs) == 1


def test_no_values_are_rounded_to_no_values():
    assert bootstrap.exact(np.zeros(0)).shape == (0,)
