"""From a suite's measures or protocol to columns, with what is refused."""

import pytest

from harness.catalogue import KINDS, Catalogue, Entry, Plugin
from harness.errors import HarnessError
from harness.records import Column, Measure, Protocol
from harness.scoring import protocols

PLUGIN = Plugin("toy", "toy", "toy", "1", None)
RECALL = Measure(name="MicroR", summary="", build=lambda: None, ratio=True)
OTHER = Measure(name="Other", summary="", build=lambda: None)
PAPER = Protocol(
    name="paper",
    summary="",
    columns=(Column("MRR@10", says="as printed"), Column("MicroR@50"), Column("MAP", "document")),
    depth=50,
)


def catalogue(**entries):
    found = {kind: {} for kind in KINDS}
    for kind, records in entries.items():
        for record in records:
            found[kind][record.name] = (*found[kind].get(record.name, ()), Entry(record, PLUGIN))
    return Catalogue((PLUGIN,), found)


TOYS = catalogue(measures=[RECALL, OTHER], protocols=[PAPER])


def texts(problems):
    return [(problem.path, problem.text) for problem in problems]


def test_measures_become_columns_with_their_canonical_names():
    scoring, problems = protocols.of_measures(["NDCG@10", "MRR", "document R@5"], 100, TOYS)
    assert problems == []
    assert [column.label for column in scoring.columns] == ["nDCG@10", "RR", "document R@5"]
    assert (scoring.depth, scoring.plugin_measures, scoring.protocol) == (100, {}, None)


def test_the_record_of_a_plugins_measure_comes_along():
    scoring, _ = protocols.of_measures(["MicroR(rel=2)@50"], 100, TOYS)
    assert scoring.plugin_measures == {"MicroR": RECALL}


def test_systems_of_documents_bring_document_columns():
    scoring, _ = protocols.of_measures(["R@5", "AP", "document AP"], 100, TOYS, documents=True)
    assert [column.label for column in scoring.columns] == ["R@5", "AP", "document AP", "document R@5"]
    assert [column.label for column in scoring.of_unit("document")] == ["document AP", "document R@5"]
    assert scoring.of_unit("passage") == scoring.columns


def test_documents_by_their_first_passage_are_a_column_of_their_own_that_documents_lack():
    scoring, _ = protocols.of_measures(["R@5", "FirstP R@5", "document R@5"], 100, TOYS)
    assert [column.label for column in scoring.columns] == ["R@5", "FirstP R@5", "document R@5"]
    assert [column.unit for column in scoring.columns] == ["passage", "first", "document"]
    assert [column.label for column in scoring.of_unit("document")] == ["document R@5"]


def test_every_problem_is_found_at_once():
    scoring, problems = protocols.of_measures(["R@10", "Recall(rel=1)@10", "nDGC@10", "R@1000"], 100, TOYS)
    assert scoring is None
    assert texts(problems) == [
        ((1,), "R@10 stands here twice ('R@10', 'Recall(rel=1)@10'); remove one of the two"),
        ((2,), "nDGC@10: unknown measure 'nDGC'; did you mean 'nDCG'?"),
        ((3,), "R@1000 reads 1000 ranks, but the suite's depth is 100; set depth: 1000 or more"),
    ]


def test_no_measure_is_a_problem():
    [(path, text)] = texts(protocols.of_measures([], 10, TOYS)[1])
    assert path == ()
    assert "no measure" in text


def test_a_measure_that_two_plugins_offer_cannot_be_used():
    twice = catalogue(measures=[RECALL, RECALL])
    assert "unknown measure 'MicroR'" in protocols.of_measures(["MicroR@5"], 10, twice)[1][0].text


def test_a_protocol_names_its_columns_canonically_and_cuts_at_its_own_depth():
    scoring = protocols.of_protocol("paper", 1000, TOYS)
    assert [column.label for column in scoring.columns] == ["RR@10", "MicroR@50", "document AP"]
    assert scoring.columns[0].says == "as printed"
    assert (scoring.depth, scoring.plugin_measures, scoring.protocol) == (50, {"MicroR": RECALL}, PAPER)


@pytest.mark.parametrize(
    ("name", "fault"), [("paper", "'paper' .*20; set depth: 50"), ("papr", "'papr'; did you mean 'paper'")]
)
def test_a_protocol_that_is_unknown_or_reads_more_is_refused(name, fault):
    with pytest.raises(HarnessError, match=fault):
        protocols.of_protocol(name, 20, TOYS)
