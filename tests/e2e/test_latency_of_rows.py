"""The latency of a row is the time of a query through all its stages, or there is none, with the reason."""

import time

import pytest

from harness import api

PAUSE = 0.02  # seconds


def slow(query, texts):
    time.sleep(PAUSE)
    return [-len(text) for text in texts]


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("latency")
    tour = {"tour": {"documents": 12}}
    tuned = {"tune": {"folds": 2, "measure": "nDCG@10", "grid": [0, 1, 0.5]}}

    def run(name, systems):
        content = {"suite": name, "datasets": {"tour": tour}, "systems": systems, "measures": ["nDCG@10"]}
        return api.run(content, out=folder / name, store=folder / "store", quiet=True)

    board = run("first", {
        "bm25": {"retriever": "bm25"},
        "ql": {"retriever": "ql"},
        "rm3": {"queries": "rm3", "retriever": "bm25"},
        "fused": {"of": ["bm25", "ql"], "combine": {"convex": {"weight": tuned}}},
        "documents": {"retriever": "bm25", "unit": "document"},
        "hierarchical": {"of": ["bm25", "documents"], "combine": "hierarchical"},
        "slow": {"of": "bm25", "rerank": {"python": slow, "depth": 5}},
        "chained": {"of": "slow", "rerank": {"python": slow, "depth": 3}},
        "folds": {"retriever": {"bm25": {"b": tuned}}},
    })  # fmt: skip
    given = {"retriever": {"run": {"file": str(folder / "first/runs/tour/bm25.run.gz")}}}
    files = run("files", {"given": given, "given, slow": {"of": "given", "rerank": {"python": slow}}})
    assert [row.error for row in (*board.rows, *files.rows) if row.error] == []
    return {row.system: row.cost for row in (*board.rows, *files.rows)}


def test_the_latency_of_a_system_is_that_of_all_its_stages(costs):
    p50 = {name: cost.search_latency_ms.p50 for name, cost in costs.items() if cost.search_latency_ms}
    assert p50["slow"] >= p50["bm25"] + 1000 * PAUSE
    assert p50["chained"] >= p50["slow"] + 1000 * PAUSE
    assert p50["fused"] > max(p50["bm25"], p50["ql"])
    assert p50["hierarchical"] > max(p50["bm25"], p50["documents"])
    assert p50["rm3"] > p50["bm25"]
    assert costs["slow"].search_latency_ms.queries > 1


def test_a_system_without_an_honest_latency_says_why(costs):
    reasons = {name: cost.no_latency for name, cost in costs.items() if cost.no_latency}
    assert reasons == {"folds": "folds", "given": "precomputed", "given, slow": "precomputed"}
    assert all(costs[name].search_latency_ms is None for name in reasons)
