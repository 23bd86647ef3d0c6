"""Micro-averaged recall against a plain transcription of how T2Ranking's script counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness_micro
from harness.collection.judgements import Judged
from harness.records import Column
from harness.scoring.score import score, summarise
from harness.types import Hits

OWN = {record.name: record for record in harness_micro.harness_measures()}
DEPTH = 3

runs = st.lists(st.lists(st.integers(0, 7), unique=True, max_size=5), min_size=4, max_size=4)
qrels = st.lists(st.dictionaries(st.integers(0, 9), st.integers(-1, 3), max_size=5), min_size=4, max_size=4)


def measured(name, run, qrel):
    passages = np.full((len(run), 5), -1, np.int64)
    scores = np.full((len(run), 5), -np.inf, np.float32)
    for row, found in enumerate(run):
        passages[row, : len(found)], scores[row, : len(found)] = found, -np.arange(len(found))
    rows = [(q, p, grade) for q, one in enumerate(qrel) for p, grade in one.items()]
    query, passage, grade = (np.array(column) for column in zip(*rows, strict=True))
    judged = Judged(query.astype(np.int32), passage.astype(np.int64), grade.astype(np.int32))
    return summarise(
        score(Hits(passages, scores), judged, [Column(name)], size=8, plugin_measures=OWN), 1, resamples=50
    )[name]


def as_the_script_counts(run, qrel, level):
    found = wanted = 0
    for passages, judged in zip(run, qrel, strict=True):
        positives = {passage for passage, grade in judged.items() if grade >= level}
        if passages and positives:
            found += len(positives & set(passages[:DEPTH]))
            wanted += len(positives)
    return round(found / wanted, 6) if wanted else 0.0


@given(runs, qrels.filter(any), st.sampled_from([1, 2]))
def test_without_the_queries_that_the_run_lacks_it_is_the_script(run, qrel, level):
    name = f"MicroRAnswered(rel={level})@{DEPTH}".replace("(rel=1)", "")
    assert measured(name, run, qrel).mean == as_the_script_counts(run, qrel, level)


@given(runs.filter(all), qrels.filter(any))
def test_both_agree_on_a_run_that_answers_all(run, qrel):
    assert measured("MicroR@3", run, qrel) == measured("MicroRAnswered@3", run, qrel)


def test_a_query_that_the_run_lacks_stays_in_the_denominator():
    run, qrel = [[0], [], [1], []], [{0: 1}, {1: 1, 2: 1}, {2: 1}, {}]
    assert measured("MicroR@3", run, qrel).mean == 0.25
    assert measured("MicroRAnswered@3", run, qrel).mean == 0.5


def test_it_differs_from_the_mean_of_recalls():
    run, qrel = [[0], [1], [7], [7]], [{0: 1}, {1: 1, 2: 1, 3: 1}, {}, {}]
    assert measured("MicroR@3", run, qrel).mean == 0.5
    assert measured("R@3", run, qrel).mean == pytest.approx((1 + 1 / 3) / 2, abs=1e-6)
