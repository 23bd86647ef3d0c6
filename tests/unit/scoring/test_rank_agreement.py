"""Kendall's tau against SciPy's."""

import numpy as np
import pytest

from harness.scoring.rank_agreement import kendall_tau


@pytest.mark.parametrize("seed", range(5))
def test_it_is_tau_b_with_and_without_ties(seed):
    from scipy import stats

    rng = np.random.default_rng(seed)
    for first, second in ((rng.random(9), rng.random(9)), (rng.integers(0, 4, 12), rng.integers(0, 3, 12))):
        expected = stats.kendalltau(first, second).statistic
        assert kendall_tau(first.tolist(), second.tolist()) == pytest.approx(expected, abs=1e-6)


def test_equal_scores_have_no_order():
    assert kendall_tau([1.0, 1.0], [0.2, 0.3]) is None
    assert kendall_tau([1.0], [0.2]) is None
