"""The order of systems by a machine's judgements against that by people's."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from harness.compare import judges
from harness.compare.data import Judged
from harness.compare.significance import Comparison, Standing

BOTH = (Judged("people", False, "c", "q"), Judged("machine", True, "c", "q"))


def standings(**means):
    return [
        Standing(dataset, "RR@10", f"s{i}", mean, None)
        for dataset, values in means.items() for i, mean in enumerate(values)
    ]  # fmt: skip


def told_apart(dataset, first, second):
    return Comparison(
        dataset, "RR@10", first, second, 9, (0, 0), 0.1, (0, 0), 0.001, 0.001, 1.0, 1, 1, 1, 0.1, "f", True
    )


@pytest.mark.parametrize("seed", range(10))
def test_tau_is_that_of_scipy(seed):
    draw = np.random.default_rng(seed)
    one, other = draw.integers(0, 6, 8) / 10, draw.integers(0, 6, 8) / 10
    [item] = judges.agreements(BOTH, standings(people=one, machine=other), [], 0.05)
    assert item.tau == pytest.approx(kendalltau(one, other).statistic)
    assert (item.systems, item.pairs) == (8, 28)


def test_pairs_in_the_same_order_are_counted_and_those_that_people_tell_apart():
    sure = [
        told_apart("people", "s0", "s2"),
        told_apart("people", "s1", "s0"),
        told_apart("machine", "s1", "s2"),
    ]
    [item] = judges.agreements(BOTH, standings(people=[0.1, 0.2, 0.3], machine=[0.2, 0.1, 0.3]), sure, 0.05)
    assert (item.alike, item.pairs) == (2, 3)
    assert (item.told_apart_alike, item.told_apart) == (1, 2)
    assert item.tau == pytest.approx(1 / 3)


def test_other_queries_or_passages_are_not_held_against_each_other():
    others = (
        Judged("people", False, "c", "q2"),
        Judged("machine", True, "c", "q"),
        Judged("p2", False, "c2", "q"),
    )
    assert judges.agreements(others, standings(people=[1, 0], machine=[1, 0], p2=[1, 0]), [], 0.05) == ()


def test_an_order_of_ties_alone_has_no_tau():
    [item] = judges.agreements(BOTH, standings(people=[1, 1], machine=[1, 0]), [], 0.05)
    assert item.tau is None
