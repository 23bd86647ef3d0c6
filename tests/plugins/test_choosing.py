"""What is judged next: pairs between two thresholds, queries that all systems miss, a sample of errors."""

import json

import numpy as np
import pytest
from making_input import collection

from harness.types import Document, Hits, Judgement, Passage, Query
from harness_pooling import ActiveParams, ErrorsParams, HardParams
from harness_pooling.choosing import ActiveSample, HardQueries, SampleErrors

DOCUMENTS = [Document(f"d{i}", "", (Passage(f"p{i}", f"text {i}"),)) for i in range(6)]
QUERIES = [Query(f"q{i}", f"query {i}?") for i in range(4)]
JUDGED = [
    Judgement("q0", "p0", 1),
    Judgement("q1", "p1", 2),
    Judgement("q2", "p5", 1),
    Judgement("q3", "p3", 0),
]
ONE = Hits(
    np.array([[0, 1, 2], [2, 1, 3], [0, 1, 2], [3, 4, 5]]),
    np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.4], [0.95, 0.3, 0.2], [0.7, 0.5, 0.05]], np.float32),
)
TWO = Hits(np.array([[1, 2], [1, -1], [4, 3], [0, 1]]), np.zeros((4, 2), np.float32))


def made(folder, maker):
    given = collection(folder, DOCUMENTS, QUERIES, JUDGED, runs={"one": ONE, "two": TWO})
    result = maker.make(given)
    lines = (given.folder / "kept" / "pairs.jsonl").read_text().splitlines()
    pairs = [(row["query"], row["passage"]) for row in map(json.loads, lines)]
    return result, pairs, {item.why: item.times for item in given.tally.dropped}


def test_pairs_between_the_thresholds_that_nobody_judged_are_chosen(tmp_path):
    _, pairs, dropped = made(tmp_path, ActiveSample(ActiveParams(of="one", lower=0.2, upper=0.7)))
    assert pairs == [("q0", "p1"), ("q1", "p3"), ("q2", "p1"), ("q2", "p2"), ("q3", "p4")]
    assert dropped == {
        "judged already": 3, "below the lower threshold": 2, "above the upper threshold": 2
    }  # fmt: skip


def test_thresholds_may_be_quantiles_and_the_draw_is_seeded(tmp_path):
    chosen = []
    for name in ("first", "again"):
        (tmp_path / name).mkdir()
        params = ActiveParams(of="one", lower=0.1, upper=0.9, quantiles=True, take=3, seed=5)
        chosen.append(made(tmp_path / name, ActiveSample(params))[1])
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 3
    with pytest.raises(ValueError, match="'lower' is at most 'upper'"):
        ActiveParams(of="one", lower=0.8, upper=0.1)


def test_queries_that_every_system_misses_stay_with_their_positives(tmp_path):
    result, pairs, dropped = made(tmp_path, HardQueries(HardParams(of=("one", "two"), depth=2)))
    assert [query.id for query in result.queries] == ["q2"]
    assert [tuple(row)[:3] for row in result.judgements] == [("q2", "p5", 1)]
    assert pairs == [("q2", "p5")]
    assert dropped == {"some system finds a positive": 2, "without a positive": 1}


def test_errors_are_queries_without_a_positive_at_the_top(tmp_path):
    _, pairs, _ = made(tmp_path, SampleErrors(ErrorsParams(of="one", top=1, queries=9)))
    assert pairs == [("q1", "p2"), ("q2", "p0")]
