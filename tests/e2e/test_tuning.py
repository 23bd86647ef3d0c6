"""A combiner's weight is found on another split or across folds, and the whole curve is kept."""

import copy
import re
from pathlib import Path

import pytest
from running import Harness, leaderboard, rows

TUNED = {
    "suite": "tuned",
    "datasets": {"tour": {"tour": {"documents": 40, "queries": 20}}},
    "systems": {
        "passages": {"retriever": "bm25"},
        "documents": {"retriever": "bm25", "unit": "document"},
        "fused": {
            "of": ["passages", "documents"],
            "combine": {
                "convex": {"weight": {"tune": {"on": "tour/dev", "measure": "nDCG@10", "grid": [0, 1, 0.25]}}}
            },
        },
    },
    "measures": ["nDCG@10"],
    "depth": 50,
}


def with_tune(**changes) -> dict:
    suite = copy.deepcopy(TUNED)
    suite["systems"]["fused"]["combine"]["convex"]["weight"]["tune"] |= changes
    return suite


def learning(**keys) -> dict:
    suite = copy.deepcopy(TUNED)
    target = {} if "folds" in keys else {"on": "tour/dev"}
    suite["systems"]["fused"]["combine"]["convex"]["weight"] = {"learned": {**target, **keys}}
    return suite


def with_weight(weight: float, split: str) -> dict:
    suite = copy.deepcopy(TUNED)
    suite["systems"]["fused"]["combine"]["convex"]["weight"] = weight
    suite["datasets"]["tour"]["tour"]["split"] = split
    return suite


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all, so that the systems are searched once."""
    return tmp_path_factory.mktemp("tuned") / "store"


def ran(harness: Harness, store: Path, suite: dict) -> dict:
    harness.suite(suite)
    found = harness.run("suite.yaml", "--store", store)
    assert found.code == 0, found.err
    return rows(harness.out)


def mean(row: dict) -> float:
    return row["measures"]["nDCG@10"]["mean"]


def test_the_weight_is_what_is_best_on_the_other_split_and_gives_the_scores_of_just_that_weight(
    harness, store
):
    fused = ran(harness, store, TUNED)["fused"]
    [tuning] = fused["tuning"]
    assert (tuning["on"], tuning["parameter"], tuning["measure"]) == ("tour/dev", "weight", "nDCG@10")
    assert tuning["values"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    for value, expected in zip(tuning["values"], tuning["curve"], strict=True):
        assert mean(ran(harness, store, with_weight(value, "dev"))["fused"]) == expected
    best = tuning["values"][tuning["curve"].index(max(tuning["curve"]))]
    assert tuning["value"] == best
    assert mean(ran(harness, store, with_weight(best, "test"))["fused"]) == mean(fused)
    assert set(tuning["slices"]) == set(fused["slices"])


def test_of_equal_weights_the_smaller_wins(harness, store):
    suite = with_tune()
    suite["systems"]["fused"]["of"] = ["passages", "passages"]  # every weight makes the same ranking
    [tuning] = ran(harness, store, suite)["fused"]["tuning"]
    assert (len(set(tuning["curve"])), tuning["value"]) == (1, 0.0)


def test_across_folds_each_query_gets_the_value_that_is_best_on_the_other_folds(harness, store):
    suite = with_tune(folds=4)
    del suite["systems"]["fused"]["combine"]["convex"]["weight"]["tune"]["on"]
    fused = ran(harness, store, suite)["fused"]
    [tuning] = fused["tuning"]
    assert (tuning["on"], tuning["value"], len(tuning["folds"])) == ("4 folds", None, 4)
    assert fused["flags"] == ["tuned across folds of the split that it is scored on"]
    lowest, highest = min(tuning["curve"]), max(tuning["curve"])
    assert lowest < mean(fused) <= highest + 0.05


def test_a_changed_judgement_of_the_tuning_split_tunes_again_and_encodes_nothing_again(harness):
    ran(harness, harness.store, TUNED)
    harness.suite(with_tune(measure="R@10"))
    planned = harness.run("suite.yaml", "--dry-run")
    todo = [line.split()[3] for line in planned.out.splitlines() if line.split()[:2] == ["to", "do"]]
    assert sorted(todo) == ["combine", "tune"]


def test_a_dataset_may_be_there_to_tune_on_alone(harness, store):
    suite = with_tune(on="other/test")
    suite["datasets"]["other"] = {"tour": {"documents": 30, "queries": 15, "seed": 3}, "scored": False}
    ran(harness, store, suite)
    assert {row["dataset"] for row in leaderboard(harness.out)["rows"]} == {"tour"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"on": "tour/test"},
            "weight.tune: 'tour/test' is what the suite scores as 'tour'; tune on another, or",
        ),
        ({"on": "toor/dev"}, "unknown dataset 'toor'; did you mean 'tour'?"),
        ({"on": "dev"}, "expected DATASET/SPLIT, got 'dev'"),
        ({"on": "tour/train"}, "tour/train: expected one of 'test', 'dev', got 'train'"),
        ({"folds": 3}, "expected either 'on: DATASET/SPLIT' or 'folds: 5'"),
        ({"grid": [1, 0, 0.1]}, "expected [from, to, step] with from below to and a step above 0"),
        ({"grid": [0, 2, 0.5]}, "expected at most 1"),
        ({"grid": [float("-inf"), 1, 0.5]}, "expected [from, to, step]"),
        ({"grid": [0, 1, float("inf")]}, "expected [from, to, step]"),
        ({"grid": [0, 1, 1e-9]}, "weight.tune.grid: "),
        ({"measure": "nDCG@"}, "nDCG@"),
        ({"measure": "R@100"}, "R@100 reads 100 ranks, but the suite's depth is 50"),
        ({"mesure": "R@10"}, "unknown key 'mesure'; did you mean 'measure'?"),
    ],
)
def test_what_is_wrong_with_a_tuning_is_told_with_its_line(harness, changes, said):
    harness.suite(with_tune(**changes))
    ran = harness.command("check", "suite.yaml")
    assert ran.code == 2
    assert "suite.yaml:" in ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_another_mistake_beside_a_tuning_is_told_too(harness):
    suite = with_tune()
    suite["systems"]["fused"]["combine"]["convex"]["candidates"] = "some"
    harness.suite(suite)
    ran = harness.command("check", "suite.yaml")
    assert ran.code == 2
    assert "candidates: expected one of" in ran.err
    assert "Traceback" not in ran.err


def test_a_dataset_is_not_tuned_and_a_system_tunes_one_method(harness):
    suite = copy.deepcopy(TUNED)
    tune = {"tune": {"folds": 2, "measure": "nDCG@10", "grid": [0.5, 1, 0.1]}}
    suite["systems"]["fused"]["rerank"] = {"sdm": {"ordered": tune}}
    harness.suite(suite)
    ran = harness.command("check", "suite.yaml")
    assert ran.code == 2
    assert re.search("systems.fused: .*tunes more than one", ran.err)


def test_a_combiner_that_scores_further_passages_is_tuned_too(harness, store):
    suite = copy.deepcopy(TUNED)
    tuned = suite["systems"]["fused"]["combine"].pop("convex")
    suite["systems"]["fused"]["combine"]["hierarchical"] = {**tuned, "documents": 5}
    fused = ran(harness, store, suite)["fused"]
    [tuning] = fused["tuning"]
    suite["systems"]["fused"]["combine"]["hierarchical"]["weight"] = tuning["value"]
    assert mean(ran(harness, store, suite)["fused"]) == mean(fused)
    assert len(set(tuning["curve"])) > 1


@pytest.mark.parametrize("target", [{"on": "tour/dev"}, {"folds": 4}])
def test_a_learned_weight_stands_beside_the_best_fixed_one(harness, store, target):
    learned = ran(harness, store, learning(**target) | {"analyses": ["weights"]})
    findings = {item["name"]: item["rows"] for item in leaderboard(harness.out)["analyses"]}
    suite = learning(**target, measure="nDCG@10", grid=[0, 1, 0.05])
    weight = suite["systems"]["fused"]["combine"]["convex"]["weight"]
    weight["tune"] = weight.pop("learned")
    fixed = ran(harness, store, suite)
    [tuning], [plain] = learned["fused"]["tuning"], fixed["fused"]["tuning"]
    models = tuning.pop("learned")
    assert len(models) == (target.get("folds") or 1)
    assert {**tuning, "key": ""} == {
        **plain,
        "key": "",
    }  # the best fixed values and the curve stand beside it
    assert set(models[0]["features"]) > {"greatest idf", "overlap at 10", "entropy of input 2"}
    assert mean(learned["fused"]) >= mean(fixed["fused"]) - 0.02
    assert learned["fused"]["flags"] == fixed["fused"]["flags"]
    rows_of = {name: numbers for name, *numbers in findings["learned-weights/fused/tour"]}
    means = [numbers[0] for numbers in rows_of.values()]
    assert means[:2] == [mean(fixed["fused"]), mean(learned["fused"])]
    assert means[2] >= max(means)
    assert rows_of["learned for each query"][3] == pytest.approx(means[1] - means[0], abs=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda fused: fused["combine"]["convex"]["weight"]["learned"].update(on="tour/test"),
            "tune on another, or",
        ),
        (
            lambda fused: fused["combine"]["convex"]["weight"]["learned"].update(folds=3),
            "expected either 'on",
        ),
        (
            lambda fused: fused["combine"]["convex"]["weight"]["learned"].update(grid=[0, 1, 1]),
            "has two values",
        ),
        (
            lambda fused: fused["combine"]["convex"]["weight"]["learned"].update(measure="R@100"),
            "R@100 reads 100",
        ),
        (lambda fused: fused["combine"]["convex"]["weight"].update(learned=5), "expected {on: DATASET/SPLIT"),
        (lambda fused: fused["of"].append("passages"), "learned of two systems, and 'of' names 3"),
        (
            lambda fused: fused["combine"]["convex"].update(weights=fused["combine"]["convex"].pop("weight")),
            "'convex' cannot learn this parameter; it learns weight",
        ),
        (
            lambda fused: fused.update(combine={"rrf": {"k": fused["combine"]["convex"]["weight"]}}),
            "'rrf' cannot learn this parameter; give a value, or tune it",
        ),
        (
            lambda fused: fused["combine"]["convex"].update(form={"tune": {"values": ["code", "paper"]}}),
            "weight: is learned, and others are tuned",
        ),
    ],
)
def test_what_is_wrong_with_a_learned_weight_is_told_with_its_line(harness, change, said):
    suite = learning()
    change(suite["systems"]["fused"])
    harness.suite(suite)
    ran = harness.command("check", "suite.yaml")
    assert (ran.code, "Traceback" in ran.err, "suite.yaml:" in ran.err) == (2, False, True)
    assert said in ran.err
