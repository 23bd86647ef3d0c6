"""docs/protocols.md: up to date, and its numbers are those that can be counted by hand."""

import json
from pathlib import Path

import pytest
from protocol_runs import OWN, PROTOCOLS

import protocol_docs
import toy_run
from harness import catalogue

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).parent / "data" / "protocols" / "toy.json"
QUERIES = json.loads(TOY.read_text(encoding="utf-8"))
COMMAND = f"python tools/protocol_docs.py {TOY.relative_to(ROOT)} > docs/protocols.md"


def values(name):
    protocol = PROTOCOLS[name]
    found = toy_run.values(toy_run.toy_of(QUERIES), protocol, OWN)
    return {column.label: value for column, value in zip(protocol.columns, found, strict=True)}


def test_the_page_of_protocols_is_up_to_date():
    shown = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    assert shown == protocol_docs.page(catalogue.load(), QUERIES), COMMAND


def test_the_toy_holds_what_tells_protocols_apart():
    grades = [[*query["found"].values(), *query["missed"]] for query in QUERIES.values()]
    assert len(QUERIES) == 12
    assert [] in grades
    assert any(one and max(one) < 1 for one in grades)
    assert any(one and max(one) == 1 for one in grades)
    assert any(query["length"] == 0 for query in QUERIES.values())
    assert any(0 < query["length"] < 10 for query in QUERIES.values())


def test_the_same_run_has_three_values_of_recall_at_50_and_four_of_mrr():
    recalls = {
        "a passage of the query is found": values("dureader-retrieval")["Success@50"],
        "share of the query's passages": values("survey")["R@50"],
        "share of all passages": values("t2ranking-retrieval")["MicroR(rel=2)@50"],
    }
    assert recalls == pytest.approx(
        {
            "a passage of the query is found": 9 / 11,
            "share of the query's passages": (2 / 3 + 1 + 2 / 3 + 1 / 2 + 1 / 6 + 1 / 2 + 1 / 2 + 2) / 11,
            "share of all passages": 11 / 25,
        },
        abs=1e-6,
    )
    firsts = [1, 1 / 2, 1, 1 / 4, 1, 1 / 10]
    later = [1 / 12, 1 / 48, 1 / 11]
    assert values("dureader-retrieval")["RR@10"] == pytest.approx(sum(firsts) / 11, abs=1e-6)
    assert values("survey")["RR"] == pytest.approx((sum(firsts) + sum(later)) / 11, abs=1e-6)
    at_level_2 = [1, 1 / 5, 1 / 4, 1, 1 / 10]
    assert values("t2ranking-retrieval")["RR(rel=2)@10"] == pytest.approx(sum(at_level_2) / 11, abs=1e-6)
    assert values("trec-dl")["RR(rel=2)"] == pytest.approx((sum(at_level_2) + 1 / 12 + 1 / 48) / 11, abs=1e-6)


def test_a_toy_whose_first_query_has_only_missed_passages_is_scored():
    found = toy_run.toy_of({"a": {"length": 0, "found": {}, "missed": [1]}, "b": QUERIES["q02"]})
    assert list(found.documents.document_of[:4]) == [0, 1, 1, 2]
    assert toy_run.values(found, PROTOCOLS["dureader-retrieval"], OWN) == [0.25, 0.0, 0.5]
