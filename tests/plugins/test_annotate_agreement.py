"""Kappas and alphas equal those of scikit-learn, statsmodels and the package krippendorff."""

import warnings

import numpy as np
import pytest

from harness_annotate import agreement

pytestmark = pytest.mark.extras

SEEDS = range(25)


def ratings(seed, people=5, pairs=40, grades=4, missing=0.3):
    """float[people, pairs] with NaN where somebody did not judge; people lean towards a true grade."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, grades, pairs)
    drawn = np.where(random.random((people, pairs)) < 0.6, truth, random.integers(0, grades, (people, pairs)))
    return np.where(random.random((people, pairs)) < missing, np.nan, drawn.astype(float))


def lists(table):
    return [[int(value) for value in column if not np.isnan(value)] for column in table.T]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohens_kappa_is_that_of_scikit_learn(seed, weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = pytest.importorskip("sklearn.metrics")
    first, second = ratings(seed, people=2, missing=0)
    theirs = metrics.cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
    assert agreement.cohen(first, second, weights) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa_is_that_of_statsmodels(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raters = pytest.importorskip("statsmodels.stats.inter_rater")
    counts, _ = agreement.counts_of(lists(ratings(seed, missing=0)))
    assert agreement.fleiss(counts) == pytest.approx(raters.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorffs_alpha_is_that_of_the_package(seed, level):
    package = pytest.importorskip("krippendorff")
    table = ratings(seed)
    counts, values = agreement.counts_of(lists(table))
    theirs = package.alpha(reliability_data=table, level_of_measurement=level)
    assert agreement.krippendorff(counts, values, level) == pytest.approx(theirs, abs=1e-9)


def test_perfect_agreement_is_one_and_none_at_all_is_below_zero():
    same = np.array([0.0, 1, 2, 3])
    assert agreement.cohen(same, same) == 1
    counts, values = agreement.counts_of([[0, 0], [1, 1], [3, 3]])
    assert agreement.fleiss(counts) == agreement.krippendorff(counts, values, "ordinal") == 1
    counts, values = agreement.counts_of([[0, 1], [1, 0]])
    assert agreement.krippendorff(counts, values, "nominal") < 0


@pytest.mark.parametrize("grades", [[], [[1, 1], [1, 1]], [[1], [2]]])
def test_what_is_not_defined_is_none(grades):
    counts, values = agreement.counts_of(grades)
    assert agreement.fleiss(counts) is None
    assert agreement.krippendorff(counts, values, "interval") is None
    assert agreement.cohen(np.ones(2), np.ones(2)) is None
