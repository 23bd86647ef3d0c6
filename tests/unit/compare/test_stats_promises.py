"""The simulation behind docs/statistics.md, in small: intervals and tests keep their promises."""

import re
from pathlib import Path

import pytest

import statistics_docs as simulate

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "statistics.md"


def test_tests_that_see_no_difference_seldom_claim_one():
    for rates in simulate.false_positives(400):
        randomisation = rates[0]
        assert randomisation.share <= simulate.ALPHA + 4 * (0.05 * 0.95 / 400) ** 0.5, randomisation


@pytest.mark.slow
def test_intervals_of_many_queries_hold_the_truth():
    for rate in [*simulate.coverage(1000), *simulate.coverage_of_differences(1000)]:
        if rate.queries >= 150:
            assert 0.92 <= rate.share <= 0.97, rate


@pytest.mark.slow
def test_corrected_families_hold_few_false_positives_and_uncorrected_ones_many():
    for _, by_max, by_holm, uncorrected in simulate.family_errors(200):
        limit = simulate.ALPHA + 4 * (0.05 * 0.95 / 200) ** 0.5
        assert by_max.share <= limit
        assert by_holm.share <= limit
        assert uncorrected.share > 0.2


@pytest.mark.slow
def test_what_is_called_detectable_is_found_as_often_as_said():
    for rate in simulate.power(2000):
        assert abs(rate.share - 0.8) < 4 * rate.error


def test_the_page_keeps_the_promises_that_it_shows():
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(simulate.HEAD)
    tests = text.partition("## One test")[2].partition("## Families")[0]
    rows = re.findall(r"^\| (?!values|---).* \| \d+ \| ([\d.]+) \|", tests, re.M)
    assert len(rows) == 16
    assert all(float(share) <= 0.06 for share in rows)
    last = text.partition("## Families")[2]
    families = re.findall(r"^\| [a-z ]+ \| \d+ \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", last, re.M)
    assert len(families) == 4
    for by_max, by_holm, uncorrected in families:
        assert max(float(by_max), float(by_holm)) < 0.08 < float(uncorrected)


@pytest.mark.slow
def test_recipes_that_do_not_differ_are_seldom_called_different():
    for one_seed, _, over_both, coverage in simulate.luck_of_seeds(300):
        assert over_both.share <= simulate.ALPHA + 4 * (0.05 * 0.95 / 300) ** 0.5, over_both
        assert coverage.share >= 0.90
        if one_seed.name.endswith("0.03") and one_seed.queries == 300:
            assert one_seed.share > 0.3
