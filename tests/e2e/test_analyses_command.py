"""Analyses follow the scoring rules of the rows, and a failed one is reported, not hidden."""

import copy
from pathlib import Path

import orjson
import pytest
from running import FAULTS, Harness, leaderboard

SUITE = {
    "suite": "analysed",
    "datasets": {"tour": {"tour": {"documents": 30, "queries": 20}}},
    "systems": {
        "bm25": {"retriever": "bm25"},
        "documents": {"retriever": "bm25", "unit": "document"},
        "fused": {"of": ["bm25", "documents"], "combine": {"convex": {"weight": 0.5}}},
    },
    "measures": ["nDCG@10"],
    "depth": 100,
    "analyses": ["levels", {"weights": {"steps": 2}}],
}


def changed(**changes) -> dict:
    return {key: value for key, value in {**copy.deepcopy(SUITE), **changes}.items() if value is not None}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """One store for all, so that the systems are searched once."""
    return tmp_path_factory.mktemp("analysed") / "store"


def board(harness: Harness, store: Path, suite: dict, code: int = 0, **variables: str) -> dict:
    harness.suite(suite)
    ran = harness.run("suite.yaml", "--store", store, **variables)
    assert ran.code == code, ran.err
    return leaderboard(harness.out)


def assert_analyses_agree_with_rows(data: dict) -> None:
    """`levels` and `weights` have the value of the row where they measure the same."""
    label = data["columns"][0]["label"]
    tables = {entry["name"]: entry["rows"] for entry in data["analyses"]}
    levels = {
        (system, level): value for system, level, value in tables["levels/" + data["rows"][0]["dataset"]]
    }
    rows = {row["system"]: row for row in data["rows"]}
    for system, row in rows.items():
        if row["unit"] == "passage":
            assert levels[system, "passage"] == row["measures"][label]["mean"], system
    for curve in [table for name, table in tables.items() if name.startswith("weights")]:
        [half] = [value for who, weight, value in curve if (who, weight) == ("all queries", 0.5)]
        assert half == rows["fused"]["measures"][label]["mean"]


@pytest.mark.parametrize(
    "measure",
    [
        "nDCG@10",
        "MicroR@10",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("NumRel", "RR(rel=2)@10")),
    ],
)
def test_an_analysis_scores_as_the_row_is_scored(harness, store, measure):
    assert_analyses_agree_with_rows(board(harness, store, changed(measures=[measure])))


def test_by_a_protocol_that_cuts_runs_and_by_one_that_goes_by_answers(harness, store):
    assert_analyses_agree_with_rows(
        board(harness, store, changed(measures=None, protocol="dureader-retrieval"))
    )
    assert_analyses_agree_with_rows(board(harness, store, changed(measures=None, protocol="rocketqav2-nq")))


def test_with_judgements_of_unknown_passages_dropped_or_kept_and_not_one_for_the_other(harness, store):
    folder = harness.folder / "data"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"p{i}", "text": f"a fox number{i}"} for i in range(5)]
    (folder / "corpus.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    (folder / "queries.jsonl").write_bytes(orjson.dumps({"_id": "q", "text": "fox number3"}))
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp3\t1\nq\tgone\t1\n")
    means = {}
    for policy in ("keep", "drop"):
        dataset = {"files": {"path": str(folder), "language": "en"}, "unknown_judgements": policy}
        data = board(harness, store, changed(measures=["R@10"], datasets={"small": dataset}))
        assert_analyses_agree_with_rows(data)
        means[policy] = data["rows"][0]["measures"]["R@10"]["mean"]
    assert means == {"keep": 0.5, "drop": 1.0}


@pytest.mark.parametrize(
    ("how", "message"), [("raises", "no analysis today"), ("ragged", "row 1 has 1 cells for 2 columns")]
)
def test_an_analysis_that_fails_stands_in_the_leaderboard_and_in_the_exit_code(harness, store, how, message):
    data = board(
        harness, store, changed(analyses=[{"bad": {"how": how}}, "levels"]), code=1, PYTHONPATH=FAULTS
    )
    assert [entry["name"] for entry in data["analyses"]] == ["bad/tour", "levels/tour"]
    assert message in data["analyses"][0]["rows"][0][0]
    assert all(row["status"] == "ok" for row in data["rows"])


def test_a_damaged_analysis_is_made_again(harness, store):
    first = board(harness, store, SUITE)
    for manifest in store.glob("artifacts/analyse-*/manifest.json"):
        manifest.write_bytes(manifest.read_bytes().replace(b'"facts"', b'"fakts"'))
    assert board(harness, store, SUITE) == first
