"""Protocols against their papers' equations, transcribed one by one, on random runs."""

import math

import pytest
from protocol_runs import SEEDS, by_protocol, random_case


def means(run, qrels, per_query):
    """The mean over all judged queries; a query that the run lacks has an empty list."""
    return sum(per_query(run.get(query, []), judged) for query, judged in qrels.items()) / len(qrels)


def found_at(level, cutoff=None):
    """#retr of a query: how many relevant passages are among the first k."""
    return lambda found, judged: sum(judged.get(passage, 0) >= level for passage in found[:cutoff])


def relevant(judged, level):
    return sum(grade >= level for grade in judged.values())


def recall(level, cutoff):
    def of(found, judged):
        whole = relevant(judged, level)
        return found_at(level, cutoff)(found, judged) / whole if whole else 0

    return of


def accuracy(level, cutoff):
    return lambda found, judged: int(found_at(level, cutoff)(found, judged) > 0)


def precision(level, cutoff):
    return lambda found, judged: found_at(level, cutoff)(found, judged) / cutoff


def average_precision(level):
    def of(found, judged):
        whole = relevant(judged, level)
        at_each = [
            found_at(level, rank)(found, judged) / rank
            for rank, passage in enumerate(found, 1)
            if judged.get(passage, 0) >= level
        ]
        return sum(at_each) / whole if whole else 0

    return of


def exponential_ndcg(cutoff):
    def dcg(grades):
        return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:cutoff], 1))

    def of(found, judged):
        best = dcg(sorted(judged.values(), reverse=True))
        return dcg([judged.get(passage, 0) for passage in found]) / best if best else 0

    return of


def reciprocal_rank(level, cutoff=None):
    def of(found, judged):
        ranks = [rank for rank, p in enumerate(found[:cutoff], 1) if judged.get(p, 0) >= level]
        return 1 / ranks[0] if ranks else 0

    return of


EQUATIONS = {
    "survey": {
        "R@50": recall(1, 50),
        "R@1000": recall(1, 1000),
        "Success@20": accuracy(1, 20),
        "Success@100": accuracy(1, 100),
        "P@10": precision(1, 10),
        "AP": average_precision(1),
        "nDCG(dcg='exp-log2')@10": exponential_ndcg(10),
        "RR": reciprocal_rank(1),
    },
    "rocketqav2-msmarco": {
        "RR@10": reciprocal_rank(1, 10),
        "Success@50": accuracy(1, 50),
        "Success@1000": accuracy(1, 1000),
    },
    "trec-dl": {
        "RR(rel=2)": reciprocal_rank(2),
        "RR(rel=2)@10": reciprocal_rank(2, 10),
        "AP(rel=2)": average_precision(2),
        "R(rel=2)@100": recall(2, 100),
        "R(rel=2)@1000": recall(2, 1000),
    },
    "beir": {"R@100": recall(1, 100)},
    "dapr": {"R@100": recall(1, 100)},
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_every_column_is_its_equation_over_all_judged_queries(name):
    for seed in SEEDS:
        run, qrels = random_case(seed)
        computed = by_protocol(name, run, qrels)
        expected = {label: means(run, qrels, of) for label, of in EQUATIONS[name].items()}
        assert {label: computed[label] for label in expected} == pytest.approx(expected, abs=1e-12)


def test_all_columns_of_the_survey_and_of_rocketqa_are_transcribed():
    run, qrels = random_case(0)
    for name in ("survey", "rocketqav2-msmarco"):
        assert list(by_protocol(name, run, qrels)) == list(EQUATIONS[name])
