"""The protocols that ship: every column can be computed and says what it is."""

import pytest

import harness_protocols
from harness import catalogue, measures, protocols

PROTOCOLS = {protocol.name: protocol for protocol in harness_protocols.harness_protocols()}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_column_is_named_canonically_lies_within_the_depth_and_says_its_equation(name):
    protocol = PROTOCOLS[name]
    for column in protocol.columns:
        metric = measures.parse(column.measure, {})
        assert metric.name == column.measure
        assert metric.cutoff <= protocol.depth
        assert " / " in column.says
        assert "0 for one that the run lacks" in column.says
    assert protocol.cite
    assert len({column.label for column in protocol.columns}) == len(protocol.columns)


def test_dapr_scores_passages_and_documents():
    scoring = protocols.of_protocol("dapr", 1000, catalogue.load())
    labels = [column.label for column in scoring.columns]
    assert labels == ["nDCG@10", "R@100", "document nDCG@10", "document R@100"]


def test_beir_scores_passages_alone():
    scoring = protocols.of_protocol("beir", 1000, catalogue.load())
    assert ([column.label for column in scoring.columns], scoring.depth) == (["nDCG@10", "R@100"], 100)
