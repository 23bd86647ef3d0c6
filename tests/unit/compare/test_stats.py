"""The paired tests agree with SciPy, statsmodels and plain loops, on made values and on real ones."""

import itertools
import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from harness.compare.stats import family, paired, signs, tiers
from harness.compare.stats.block import Block, levels, pseudo_values
from harness.compare.stats.signs import Pairs
from harness.leaderboard import per_query

ROOT = Path(__file__).parents[3]
REAL = sorted((ROOT / "leaderboards").glob("*/per-query/*"))  # ids and numbers of real runs


def block(values, whole=None, average="mean"):
    values = np.asarray(values, np.float64)
    return Block(values, np.ones_like(values) if whole is None else np.asarray(whole, np.float64), average)


def every_pair(systems):
    pairs = list(itertools.combinations(range(systems), 2))
    return Pairs(*(np.array(side, np.int64) for side in zip(*pairs, strict=True)))


def randomised(made, pairs=None, flips=10_000, alpha=0.05, seed=3):
    prepared = signs.prepare(made, pairs or every_pair(made.part.shape[1]))
    return family.randomised(
        [family.Group((prepared,), seed)], np.zeros(len(prepared.scale), np.int64), flips, alpha
    )


def real_differences():
    """The difference of every pair of neighbouring systems on every measure of the committed leaderboards."""
    for folder in REAL:
        tables = [per_query.parse(path) for path in sorted(folder.glob("*.tsv"))]
        for one, other in itertools.pairwise(tables):
            for label in sorted(one.columns.keys() & other.columns.keys()):
                yield one.columns[label] - other.columns[label]


def plain_max_t(values, pairs, patterns):
    """Westfall and Young's step-down max-T in loops, over given sign patterns."""
    differences = [values[:, a] - values[:, b] for a, b in pairs]
    norms = [math.sqrt((d * d).sum()) for d in differences]

    def of(pattern):
        return [
            round(abs((d * pattern).sum()) / n, 9) if n else 0.0
            for d, n in zip(differences, norms, strict=True)
        ]

    seen = of(np.ones(len(values)))
    drawn = [of(pattern) for pattern in patterns]
    order = sorted(range(len(seen)), key=lambda i: -seen[i])
    found, before = [0.0] * len(seen), 0.0
    for place, i in enumerate(order):
        rest = order[place:]
        count = sum(max(row[j] for j in rest) >= seen[i] for row in drawn)
        before = max(before, count / len(drawn))
        found[i] = before
    alone = [sum(row[i] >= seen[i] for row in drawn) / len(drawn) for i in range(len(seen))]
    return alone, found


@pytest.mark.parametrize("df", [1, 2, 5, 49, 299, 6999])
def test_student_s_tail_is_scipy_s(df):
    scipy = pytest.importorskip("scipy.stats")
    for t in (0.0, 1e-4, 0.5, 1.96, 4.0, 12.0, 100.0):
        assert abs(paired.student_two_sided(t, df) - 2 * scipy.t.sf(t, df)) < 1e-9


@pytest.mark.parametrize(
    ("queries", "alpha"), [(3, 0.05), (10, 0.05), (144, 0.05), (7000, 0.05), (10, 1e-4), (7000, 1e-4)]
)
def test_the_detectable_difference_has_the_power_it_says(queries, alpha):
    scipy = pytest.importorskip("scipy.stats")
    shift = paired.detectable_shift(queries, alpha, 0.8) * math.sqrt(queries)
    critical = scipy.t.isf(alpha / 2, queries - 1)
    power = scipy.nct.sf(critical, queries - 1, shift) + scipy.nct.cdf(-critical, queries - 1, shift)
    assert abs(power - 0.8) < 1e-7


def test_two_queries_can_show_hardly_anything():
    # of one degree of freedom, T' is (Z + shift) / |Z'|: by far the larger part of its power is |Z'| < shift / t
    alpha = 1e-4
    critical = 1 / math.tan(math.pi * alpha / 2)
    shift = paired.detectable_shift(2, alpha, 0.8) * math.sqrt(2)
    assert abs(2 * NormalDist().cdf(shift / critical) - 1 - 0.8) < 2e-6


@pytest.mark.parametrize("queries", [5, 30, 144, 7000])
@pytest.mark.extras
def test_the_detectable_difference_is_that_of_statsmodels(queries):
    power = pytest.importorskip("statsmodels.stats.power", reason="statsmodels is not installed")
    found = paired.detectable_shift(queries, 0.05, 0.8)
    assert abs(power.TTestPower().power(found, queries, 0.05) - 0.8) < 1e-9


def test_there_are_real_values_to_compare_on():
    assert len(list(real_differences())) > 50


def test_t_is_scipy_s_on_real_values():
    scipy = pytest.importorskip("scipy.stats")
    compared = 0
    for difference in real_differences():
        if np.ptp(difference) > 0:
            theirs = scipy.ttest_1samp(difference, 0)
            ours = paired.t_test(difference)
            assert abs(ours.p - theirs.pvalue) < 1e-9
            assert abs(ours.statistic - theirs.statistic) < 1e-9
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("every", [20, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("queries", [9, pytest.param(13, marks=pytest.mark.slow), 14, 50, 51, None])
def test_wilcoxon_is_scipy_s_on_real_values(queries, every):
    scipy = pytest.importorskip("scipy.stats")
    compared = 0
    for difference in itertools.islice(real_differences(), 0, None, every):
        rounded = np.round(difference[:queries], paired.DECIMALS)
        if rounded.any():
            theirs = scipy.wilcoxon(rounded, correction=False)
            ours = paired.wilcoxon(difference[:queries])
            assert abs(ours.p - theirs.pvalue) < 1e-9
            assert abs(ours.statistic - theirs.statistic) < 1e-9
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("queries", [6, 13, 30, 50])
def test_wilcoxon_is_scipy_s_without_ties(queries):
    scipy = pytest.importorskip("scipy.stats")
    difference = np.random.default_rng(queries).normal(0.2, 1, queries)
    assert abs(paired.wilcoxon(difference).p - scipy.wilcoxon(difference, correction=False).pvalue) < 1e-9


def test_the_effect_is_hedges_correction_of_the_standardised_mean():
    difference = np.array([0.5, 0.1, -0.2, 0.4, 0.3])
    m = 4
    correction = math.gamma(m / 2) / (math.sqrt(m / 2) * math.gamma((m - 1) / 2))
    assert paired.effect(difference) == pytest.approx(correction * difference.mean() / difference.std(ddof=1))


def test_queries_are_won_tied_and_lost():
    assert paired.outcomes(np.array([0.1, 1e-12, 0.0, -0.5, 0.2])) == (2, 2, 1)


@pytest.mark.parametrize("same", [0.0, 0.25])
def test_differences_without_variance_are_no_error(same):
    difference = np.full(8, same)
    assert paired.t_test(difference).p == (1.0 if same == 0 else 0.0)
    assert paired.effect(difference) == (0.0 if same == 0 else math.inf)
    assert paired.wilcoxon(difference).p == (1.0 if same == 0 else 2 / 2**8)
    assert paired.detectable(difference, 0.05) == 0.0


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_few_queries_are_tested_exactly_as_scipy_does(every):
    scipy = pytest.importorskip("scipy.stats")
    compared = 0
    for difference in itertools.islice(real_differences(), 0, None, every):
        few = difference[:12]
        if not few.any():
            continue
        theirs = scipy.permutation_test(
            (few,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=2**12,
            vectorized=True,
        )
        ours = randomised(block(np.stack([few, np.zeros(12)], axis=1)))
        assert ours.exact.all()
        assert abs(ours.p[0] - theirs.pvalue) < 1e-9
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("every", [80, pytest.param(6, marks=pytest.mark.slow)])
def test_many_queries_agree_with_scipy_within_the_error_of_drawing(every):
    scipy = pytest.importorskip("scipy.stats")
    flips, compared = 20_000, 0
    for difference in itertools.islice(real_differences(), 0, None, every):
        if not difference.any():
            continue
        theirs = scipy.permutation_test(
            (difference,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=flips,
            vectorized=True,
            batch=500,
            rng=np.random.default_rng(4),
        ).pvalue
        ours = randomised(block(np.stack([difference, np.zeros(len(difference))], axis=1)), flips=flips).p[0]
        half = max(theirs, 1 / flips) / 2  # SciPy doubles the p of one side, and with it the error
        error = math.sqrt((4 * half * (1 - half) + theirs * (1 - theirs)) / flips)
        assert abs(ours - theirs) < 4.5 * error
        compared += 1
    assert compared > 2


def test_the_exact_max_t_is_that_of_plain_loops():
    values = np.round(np.random.default_rng(8).random((9, 4)) + np.array([0, 0.2, 0.35, 0.36]), 2)
    values[:, 3] = values[:, 2]  # two systems that are one
    pairs = list(itertools.combinations(range(4), 2))
    patterns = [np.array(signs_) for signs_ in itertools.product([-1.0, 1.0], repeat=9)]
    alone, together = plain_max_t(values, pairs, patterns)
    found = randomised(block(values))
    assert found.exact.all()
    np.testing.assert_allclose(found.p, alone, atol=1e-12)
    np.testing.assert_allclose(found.adjusted, together, atol=1e-12)


def test_a_drawn_max_t_is_near_the_exact_one():
    values = np.random.default_rng(2).random((14, 4)) + np.array([0, 0.1, 0.25, 0.45])
    exact, drawn = randomised(block(values)), randomised(block(values), flips=8000)
    assert exact.exact.all()
    assert not drawn.exact.any()
    np.testing.assert_allclose(drawn.adjusted, exact.adjusted, atol=4.5 * math.sqrt(0.25 / 8000))


def test_a_drawn_p_is_never_0():
    values = np.zeros((40, 2))
    values[:, 0] = 1
    assert randomised(block(values), flips=999).p[0] == 1 / 1000


def test_families_are_corrected_apart():
    made = block(np.random.default_rng(1).random((12, 3)) + np.array([0, 0.1, 0.3]))
    prepared = signs.prepare(made, every_pair(3))
    apart = family.randomised([family.Group((prepared,), 1)], np.arange(3), 5000, 0.05)
    np.testing.assert_array_equal(apart.adjusted, apart.p)
    together = family.randomised([family.Group((prepared,), 1)], np.zeros(3, np.int64), 5000, 0.05)
    np.testing.assert_array_equal(together.p, apart.p)
    assert (together.adjusted >= together.p).all()
    assert together.critical[0] > max(apart.critical.values())


def test_a_family_over_two_datasets_takes_the_largest_of_both():
    rng = np.random.default_rng(6)
    groups = [
        family.Group((signs.prepare(block(rng.random((30, 2)) + np.array([0.2, 0])), every_pair(2)),), seed)
        for seed in (1, 2)
    ]
    one = family.randomised(groups, np.zeros(2, np.int64), 4000, 0.05)
    two = family.randomised(groups, np.arange(2), 4000, 0.05)
    assert one.adjusted.min() >= two.adjusted.min()
    assert abs(one.critical[0] - NormalDist().inv_cdf(1 - (1 - 0.95**0.5) / 2)) < 0.15


def test_the_number_of_queries_in_a_chunk_changes_nothing(monkeypatch):
    made = block(np.random.default_rng(1).random((64, 3)))
    first = randomised(made, flips=500)
    monkeypatch.setattr(signs, "DRAWS", 64 * 64)  # words of 64 bits are shared out alike
    second = randomised(made, flips=500)
    np.testing.assert_array_equal(first.p, second.p)
    np.testing.assert_array_equal(first.adjusted, second.adjusted)


def test_a_ratio_of_sums_exchanges_numerators_and_denominators():
    rng = np.random.default_rng(5)
    part = rng.integers(0, 4, (9, 2)).astype(np.float64)
    whole = part + rng.integers(1, 3, (9, 2))
    seen = abs(part[:, 0].sum() / whole[:, 0].sum() - part[:, 1].sum() / whole[:, 1].sum())
    count = 0
    for pattern in itertools.product([0, 1], repeat=9):
        swap = np.array(pattern, bool)[:, None]
        n, d = np.where(swap, part[:, ::-1], part), np.where(swap, whole[:, ::-1], whole)
        count += abs(n[:, 0].sum() / d[:, 0].sum() - n[:, 1].sum() / d[:, 1].sum()) >= seen - 1e-12
    assert randomised(block(part, whole, "ratio")).p[0] == count / 2**9


def test_a_ratio_with_one_denominator_is_a_mean_of_numerators():
    rng = np.random.default_rng(7)
    part = rng.integers(0, 4, (40, 3)).astype(np.float64)
    whole = np.repeat(part.max(axis=1, keepdims=True) + 1, 3, axis=1)
    ratio, mean = randomised(block(part, whole, "ratio")), randomised(block(part))
    np.testing.assert_array_equal(ratio.p, mean.p)
    np.testing.assert_array_equal(ratio.adjusted, mean.adjusted)


def test_pseudo_values_have_the_ratio_as_their_mean():
    rng = np.random.default_rng(7)
    made = block(rng.random((50, 3)), rng.random((50, 3)) + 1, "ratio")
    np.testing.assert_allclose(pseudo_values(made).mean(axis=0), levels(made), atol=1e-12)


@pytest.mark.extras
def test_holm_is_that_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    p = np.random.default_rng(3).random(40) ** 3
    theirs = multitest.multipletests(p, method="holm")[1]
    np.testing.assert_allclose(family.holm(p, np.zeros(40, np.int64)), theirs, atol=1e-12)


def test_holm_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(family.holm(p, np.zeros(4, np.int64)), [0.03, 0.06, 0.06, 0.02])


def test_systems_that_cannot_be_told_apart_share_a_letter():
    different = np.zeros((4, 4), bool)
    for a, b in [(0, 2), (0, 3), (1, 3)]:
        different[a, b] = different[b, a] = True
    assert tiers.letters(np.array([0.9, 0.8, 0.7, 0.6]), different) == ["a", "ab", "bc", "c"]


@pytest.mark.parametrize("seed", range(20))
def test_letters_say_exactly_what_the_tests_say(seed):
    rng = np.random.default_rng(seed)
    different = np.triu(rng.random((12, 12)) < rng.random(), 1)
    different |= different.T
    found = tiers.letters(rng.random(12), different)
    for a, b in itertools.combinations(range(12), 2):
        assert bool(set(found[a]) & set(found[b])) != different[a, b]
    assert all(found)


def test_more_letters_than_the_alphabet_has():
    found = tiers.letters(-np.arange(30.0), ~np.eye(30, dtype=bool))
    assert found[25:28] == ["z", "a2", "b2"]
