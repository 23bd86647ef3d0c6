"""Analyses rest on the rules of the rows, and one that fails is told, not hidden."""

from __future__ import annotations

import copy

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


def board(harness: Harness, suite: dict, code: int = 0, **variables: str) -> dict:
    harness.suite(suite)
    ran = harness.run(**variables)
    assert ran.code == code, ran.err
    return leaderboard(harness.out)


def agrees(found: dict) -> None:
    """What `levels` and `weights` say of a system is what its row says."""
    label = found["columns"][0]["label"]
    tables = {entry["name"]: entry["rows"] for entry in found["analyses"]}
    levels = {
        (system, level): value for system, level, value in tables["levels/" + found["rows"][0]["dataset"]]
    }
    rows = {row["system"]: row for row in found["rows"]}
    for system, row in rows.items():
        if row["unit"] == "passage":
            assert levels[system, "passage"] == row["measures"][label]["mean"], system
    for curve in [table for name, table in tables.items() if name.startswith("weights")]:
        [half] = [value for who, weight, value in curve if (who, weight) == ("all queries", 0.5)]
        assert half == rows["fused"]["measures"][label]["mean"]


@pytest.mark.parametrize("measure", ["nDCG@10", "MicroR@10", "NumRel", "RR(rel=2)@10"])
def test_an_analysis_scores_as_the_row_is_scored(harness, measure):
    agrees(board(harness, changed(measures=[measure])))


def test_by_a_protocol_that_cuts_runs_and_by_one_that_goes_by_answers(harness):
    agrees(board(harness, changed(measures=None, protocol="dureader-retrieval")))
    agrees(board(harness, changed(measures=None, protocol="rocketqav2-nq")))


def test_with_judgements_of_unknown_passages_dropped_or_kept_and_not_one_for_the_other(harness):
    data = harness.folder / "data"
    (data / "qrels").mkdir(parents=True)
    rows = [{"_id": f"p{i}", "text": f"a fox number{i}"} for i in range(5)]
    (data / "corpus.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    (data / "queries.jsonl").write_bytes(orjson.dumps({"_id": "q", "text": "fox number3"}))
    (data / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp3\t1\nq\tgone\t1\n")
    means = {}
    for policy in ("keep", "drop"):
        dataset = {"files": {"path": str(data), "language": "en"}, "unknown_judgements": policy}
        found = board(harness, changed(measures=["R@10"], datasets={"small": dataset}))
        agrees(found)
        means[policy] = found["rows"][0]["measures"]["R@10"]["mean"]
    assert means == {"keep": 0.5, "drop": 1.0}


@pytest.mark.parametrize(
    ("how", "said"), [("raises", "no analysis today"), ("ragged", "row 1 has 1 cells for 2 columns")]
)
def test_an_analysis_that_fails_stands_in_the_leaderboard_and_in_the_exit_code(harness, how, said):
    found = board(harness, changed(analyses=[{"bad": {"how": how}}, "levels"]), code=1, PYTHONPATH=FAULTS)
    assert [entry["name"] for entry in found["analyses"]] == ["bad/tour", "levels/tour"]
    assert said in found["analyses"][0]["rows"][0][0]
    assert all(row["status"] == "ok" for row in found["rows"])


def test_a_damaged_analysis_is_made_again(harness):
    first = board(harness, SUITE)
    [manifest, *_] = sorted(harness.store.glob("artifacts/analyse-*/manifest.json"))
    manifest.write_bytes(manifest.read_bytes().replace(b'"facts"', b'"fakts"'))
    assert board(harness, SUITE) == first
