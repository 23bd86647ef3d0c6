"""The protocols that ship: every column can be computed, says what it is, and cites where it is from."""

import re

import pytest
from protocol_runs import OWN, PROTOCOLS

from harness import catalogue
from harness.scoring import measures, protocols
from harness_protocols.words import ANSWERED, MEAN, computed, paper_name

LABELS = {
    "beir": (100, ["nDCG@10", "R@100"]),
    "dapr": (1000, ["nDCG@10", "R@100", "document nDCG@10", "document R@100"]),
    "dureader-retrieval": (50, ["RR@10", "Success@1", "Success@50"]),
    "mteb": (10, ["nDCG@10"]),
    "rocketqav2-msmarco": (1000, ["RR@10", "Success@50", "Success@1000"]),
    "rocketqav2-nq": (100, ["Success@5", "Success@20", "Success@100"]),
    "survey": (
        1000,
        ["R@50", "R@1000", "Success@20", "Success@100", "P@10", "AP", "nDCG(dcg='exp-log2')@10", "RR"],
    ),
    "t2ranking-reranking": (100, ["RR(rel=2)@10", "nDCG@20", "nDCG@100"]),
    "t2ranking-retrieval": (1000, ["RR(rel=2)@10", "MicroR(rel=2)@50", "MicroR(rel=2)@1000"]),
    "trec-dl": (1000, ["nDCG@10", "RR(rel=2)", "RR(rel=2)@10", "AP(rel=2)", "R(rel=2)@100", "R(rel=2)@1000"]),
}
COLUMNS = [pytest.param(p, c, id=f"{p.name} {c.label}") for p in PROTOCOLS.values() for c in p.columns]


@pytest.mark.parametrize("name", LABELS)
def test_a_protocol_has_the_columns_and_the_depth_of_its_paper(name):
    scoring = protocols.of_protocol(name, 1000, catalogue.load())
    assert (scoring.depth, [column.label for column in scoring.columns]) == LABELS[name]


def test_every_protocol_is_among_those():
    assert sorted(PROTOCOLS) == sorted(LABELS)


@pytest.mark.parametrize(("protocol", "column"), COLUMNS)
def test_a_column_is_named_canonically_and_lies_within_the_depth(protocol, column):
    metric = measures.parse(column.measure, OWN)
    assert metric.name == column.measure
    assert metric.cutoff is None or metric.cutoff <= protocol.depth


@pytest.mark.parametrize(("protocol", "column"), COLUMNS)
def test_a_column_says_the_papers_name_its_place_the_level_the_gain_and_the_mean(protocol, column):
    assert re.fullmatch(r"[\w@]+ \([^():]+\)", paper_name(column))
    metric, text = measures.parse(column.measure, OWN), computed(column)
    by_answers = protocol.judgements == "answers"
    if metric.family == "nDCG":
        gain = "(2^grade - 1)" if "dcg" in metric.params else "linear gain: sum of grade"
        assert gain in text
    else:
        assert ("contains an answer" if by_answers else f"level {metric.rel} or more") in text
    reads = metric.cutoff or protocol.depth
    assert re.search(rf"(among the first|over ranks 1 to|at rank) {reads}\b", text)
    mean = ANSWERED if by_answers else MEAN
    assert text.endswith("count as not found" if metric.average == "ratio" else mean)
    assert ("(MaxP)" in text) == (column.unit == "document")


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_a_protocol_cites_its_paper_and_says_what_to_know(protocol):
    assert re.search(r"\b20[12]\d\b", protocol.cite)
    assert protocol.notes
    assert all(note.endswith(".") for note in protocol.notes)
