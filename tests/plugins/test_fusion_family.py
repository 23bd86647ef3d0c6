"""CombSUM's family, ISR and the votes against slow forms of their definitions, one query at a time."""

import itertools
import math
import statistics

import numpy as np
import pytest

from harness import catalogue
from harness.catalogue import params
from harness.errors import HarnessError
from harness.types import Hits, Structure

PASSAGES = 60
SINGLES = Structure(
    np.arange(PASSAGES, dtype=np.int32), np.arange(PASSAGES + 1, dtype=np.int64), np.ones(PASSAGES, np.bool_)
)


def combined(name, inputs, depth=PASSAGES, structure=SINGLES, **given):
    record = catalogue.load().find("combiners", name).record
    values, problems = params.convert(record.params, given, None)
    assert not problems
    return record.build(values).combine(inputs, depth, structure)


def random_inputs(count, queries=7, depth=20, seed=0):
    """Lists of different lengths, best first, without ties."""
    random = np.random.default_rng(seed)
    inputs = []
    for number in range(count):
        passages = np.full((queries, depth), -1, np.int64)
        scores = np.full((queries, depth), -np.inf, np.float32)
        for row in range(queries):
            length = int(random.integers(1, depth + 1))
            passages[row, :length] = random.permutation(PASSAGES)[:length]
            scores[row, :length] = np.sort(random.normal(3 * number, 2, length))[::-1]
        inputs.append(Hits(passages, scores))
    return inputs


def as_dicts(hits, row):
    filled = hits.passages[row] >= 0
    pairs = zip(hits.passages[row][filled].tolist(), hits.scores[row][filled].tolist(), strict=True)
    return dict(pairs)


SLOW_NORMALISATIONS = {
    "none": lambda scores: scores,
    "min-max": lambda scores: {
        p: (s - min(scores.values())) / max(max(scores.values()) - min(scores.values()), 1e-9)
        for p, s in scores.items()
    },
    "max": lambda scores: {p: s / max(*scores.values(), 1e-9) for p, s in scores.items()},
    "sum": lambda scores: {
        p: (s - min(scores.values())) / max(sum(v - min(scores.values()) for v in scores.values()), 1e-9)
        for p, s in scores.items()
    },
    "z-score": lambda scores: {
        p: (s - statistics.fmean(scores.values())) / max(statistics.pstdev(scores.values()), 1e-9)
        for p, s in scores.items()
    },
    "rank": lambda scores: {p: 1 - i / len(scores) for i, p in enumerate(scores)},
}
SLOW_RULES = {
    "combsum": sum,
    "combmnz": lambda values: sum(values) * len(values),
    "combanz": statistics.fmean,
    "combmin": min,
    "combmax": max,
    "combmed": statistics.median,
}


def assert_equal(result, row, expected):
    values = as_dicts(result, row)
    assert values.keys() == expected.keys()
    assert values == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert list(values.values()) == sorted(values.values(), reverse=True)


@pytest.mark.parametrize("normalise", SLOW_NORMALISATIONS)
@pytest.mark.parametrize("rule", SLOW_RULES)
def test_a_rule_over_normalised_scores_is_that_of_its_definition(rule, normalise):
    inputs = random_inputs(3)
    result = combined(rule, inputs, normalise=normalise)
    for row in range(7):
        lists = [SLOW_NORMALISATIONS[normalise](as_dicts(hits, row)) for hits in inputs]
        passages = {p for scores in lists for p in scores}
        expected = {p: SLOW_RULES[rule]([scores[p] for scores in lists if p in scores]) for p in passages}
        assert_equal(result, row, expected)


def test_weights_multiply_the_normalised_scores():
    inputs = random_inputs(2)
    result = combined("combsum", inputs, weights=[0.25, 2.0])
    for row in range(7):
        first, second = (SLOW_NORMALISATIONS["min-max"](as_dicts(hits, row)) for hits in inputs)
        expected = {p: 0.25 * first.get(p, 0) + 2 * second.get(p, 0) for p in first | second}
        assert_equal(result, row, expected)


@pytest.mark.parametrize(("name", "factor"), [("isr", float), ("log-isr", math.log)])
def test_inverse_square_ranks_count_the_inputs_that_agree(name, factor):
    inputs = random_inputs(3)
    result = combined(name, inputs)
    for row in range(7):
        ranks = [{p: i for i, p in enumerate(as_dicts(hits, row), 1)} for hits in inputs]
        expected = {}
        for p in {p for each in ranks for p in each}:
            places = [each[p] for each in ranks if p in each]
            expected[p] = factor(len(places)) * sum(1 / place**2 for place in places)
        assert_equal(result, row, expected)


def test_borda_shares_the_points_that_are_left():
    inputs = random_inputs(3)
    result = combined("borda", inputs)
    for row in range(7):
        lists = [list(as_dicts(hits, row)) for hits in inputs]
        passages = {p for each in lists for p in each}
        expected = dict.fromkeys(passages, 0.0)
        for each in lists:
            points = list(range(len(passages), 0, -1))
            left = points[len(each) :]
            for p in passages:
                expected[p] += points[each.index(p)] if p in each else statistics.fmean(left)
        assert_equal(result, row, expected)


def test_a_condorcet_winner_stands_first_and_each_beats_the_next_one():
    inputs = random_inputs(5, depth=12, seed=3)
    result = combined("condorcet", inputs)
    for row in range(7):
        ranks = [{p: i for i, p in enumerate(as_dicts(hits, row))} for hits in inputs]

        def votes(one, other, ranks=ranks):
            return sum(each.get(one, math.inf) < each.get(other, math.inf) for each in ranks)

        order = list(as_dicts(result, row))
        for one, other in itertools.pairwise(order):
            assert votes(one, other) >= votes(other, one)
        winners = [
            p for p in order if all(votes(p, other) > votes(other, p) for other in order if other != p)
        ]
        assert winners in ([], order[:1])


def test_weights_of_reciprocal_rank_fusion():
    one, other = (Hits(np.array([[a, b]]), np.array([[2, 1]], np.float32)) for a, b in ((0, 1), (1, 2)))
    result = combined("rrf", [one, other], k=0, weights=[1.0, 3.0])
    assert as_dicts(result, 0) == pytest.approx({1: 0.5 + 3, 2: 1.5, 0: 1.0})


def test_as_many_weights_as_inputs():
    with pytest.raises(HarnessError, match=r"combsum\.weights: 3 weights for 2 inputs"):
        combined("combsum", random_inputs(2), weights=[1.0, 1.0, 1.0])


@pytest.mark.parametrize("name", [*SLOW_RULES, "isr", "log-isr", "borda", "condorcet"])
def test_a_document_gives_its_value_to_each_of_its_passages(name):
    structure = Structure(np.array([0, 0, 1], np.int32), np.array([0, 2, 3]), np.ones(3, np.bool_))
    passages = Hits(np.array([[2, 0]]), np.array([[2, 1]], np.float32))
    documents = Hits(np.array([[0, 1]]), np.array([[5, 1]], np.float32), "document")
    result = combined(name, [passages, documents], structure=structure)
    assert result.unit == "passage"
    assert set(as_dicts(result, 0)) == {0, 1, 2}
