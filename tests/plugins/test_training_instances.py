"""Figure 4's curve is drawn of systems whose training differs in the number of passages alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.records import Column
from harness.scoring.analysis_input import TrainedModel
from harness.scoring.score import Scored
from harness_training.instances import Instances

COLUMN = Column("RR@10")


def system(name, take, mean, rate=1e-5, reranks=False, seed=0):
    trained = TrainedModel("rocketqav2", {"lr": rate}, {"seed": seed}, take)
    return SimpleNamespace(name=name, unit="passage", hits=mean, reranks=reranks, trained=trained)


def curves(systems):
    def scores(mean, columns):
        return SimpleNamespace(
            columns=[Scored(COLUMN, np.array([mean]), np.array([1.0]), "mean")], queries=np.array([0])
        )

    queries = SimpleNamespace(ids=["q"])
    data = SimpleNamespace(dataset="d", queries=queries, systems=systems, columns=(COLUMN,), scores=scores)
    return list(Instances(None).analyse(data))


def test_retriever_and_reranker_are_two_lines_of_one_curve():
    systems = [system(f"r{take}", take, take / 10) for take in (7, 1, 3)]
    systems += [system(f"c{take}", take, take / 5, reranks=True) for take in (1, 3, 7)]
    (curve,) = curves(systems)
    assert [line[:2] for line in curve.rows if line[2] == "retriever"] == [(2, 0.1), (4, 0.3), (8, 0.7)]
    assert [line[:2] for line in curve.rows if line[2] == "re-ranker"] == [(2, 0.2), (4, 0.6), (8, 1.4)]


@pytest.mark.parametrize("other", [{"rate": 2e-5}, {"seed": 1}])
def test_systems_that_differ_in_more_make_no_curve(other):
    assert curves([system("a", 1, 0.1), system("b", 3, 0.2), system("c", 7, 0.3, **other)]) == []
