"""Figure 4's curve is drawn of rows that differ in the number of instances alone."""

import orjson

from harness.leaderboard import board_file
from harness.leaderboard.instance_curves import findings


def row(system, take, mean, rate=1e-5, reranks=False, seed=0):
    key = f"{system:<64}".encode().hex()[:64]
    model = f"made:train-{key}/{'reranker' if reranks else 'retriever'}"
    common = {"version": "1", "sources": None, "libraries": {}, "plugin": "p 1"}
    training = {"seed": seed, "segment": [0, 1], "take": take, "draw": "sample"}
    steps = [
        {
            "step": "train",
            "key": key,
            "name": "rocketqav2",
            "params": {"lr": rate},
            "training": training,
            **common,
        },
        {
            "step": "rerank" if reranks else "search",
            "key": "0",
            "name": "m",
            "params": {"model": model},
            **common,
        },
    ]
    return {
        "dataset": "d", "split": "test", "system": system, "unit": "passage", "protocol": None, "origin": "run",
        "status": "ok", "error": None, "flags": [], "slices": {}, "scored": {}, "files": {}, "cost": {},
        "measures": {"RR@10": {"mean": mean, "ci95": None, "queries": 10}},
        "provenance": {"fingerprint": None, "seed": 0, "steps": steps},
    }  # fmt: skip


def board(tmp_path, rows):
    dataset = {
        "name": "d", "split": "test", "plugin": None, "params": {}, "language": None, "query_language": None,
        "licence": None, "citation": None, "url": None, "counts": {}, "digests": {},
    }  # fmt: skip
    content = {
        "schema": board_file.SCHEMA, "name": "b", "description": "", "datasets": [dataset], "rows": rows,
        "suite": {"digest": "", "depth": 10, "seed": 0, "protocol": None, "measures": ["RR@10"]},
        "columns": [{"label": "RR@10", "measure": "RR@10", "unit": "passage", "says": ""}], "environment": {},
    }  # fmt: skip
    (tmp_path / "leaderboard.json").write_bytes(orjson.dumps(content))
    return board_file.read(tmp_path).data


def test_retriever_and_reranker_are_two_lines_of_one_curve(tmp_path):
    rows = [row(f"r{take}", take, take / 10) for take in (7, 1, 3)]
    rows += [row(f"c{take}", take, take / 5, reranks=True) for take in (1, 3, 7)]
    (curve,) = findings(board(tmp_path, rows))
    assert curve.kind == "line"
    assert curve.dataset == "d"
    retriever = [line[:2] for line in curve.rows if line[2] == "retriever"]
    assert retriever == [(2, 0.1), (4, 0.3), (8, 0.7)]
    assert [line[:2] for line in curve.rows if line[2] == "re-ranker"] == [(2, 0.2), (4, 0.6), (8, 1.4)]


def test_rows_that_differ_in_more_make_no_curve(tmp_path):
    rows = [row("a", 1, 0.1), row("b", 3, 0.2), row("c", 7, 0.3, rate=2e-5)]
    assert list(findings(board(tmp_path, rows))) == []
    rows = [row("a", 1, 0.1), row("b", 3, 0.2), row("c", 7, 0.3, seed=1)]
    assert list(findings(board(tmp_path, rows))) == []
