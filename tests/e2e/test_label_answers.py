"""A protocol by answers scores what contains an answer, whatever was judged."""

import gzip

import orjson
import pytest
from running import Harness, leaderboard, rows

from harness.scoring.answers import has_answer

SUITE = {
    "suite": "answers",
    "datasets": {"tour": {"tour": {"documents": 30, "queries": 20}}},
    "systems": {
        "bm25": {"retriever": "bm25"},
        "titles": {"context": ["titles"], "retriever": "bm25"},
        "documents": {"retriever": "bm25", "unit": "document"},
    },
    "protocol": "rocketqav2-nq",
    "depth": 100,
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    harness = Harness(tmp_path_factory.mktemp("answers"), here=True)
    harness.suite(SUITE)
    found = harness.run()
    assert found.code == 0, found.err
    return harness


def test_success_is_the_share_of_queries_with_an_answer_among_the_first(ran):
    from harness_tour import TourParams
    from harness_tour.source import Tour

    tour = Tour(TourParams(documents=30, queries=20))
    texts = {passage.id: passage.text for document in tour.documents() for passage in document.passages}
    wanted = {query.id: query.answers for query in tour.queries()}
    found = dict.fromkeys(wanted, False)
    with gzip.open(ran.out / "runs/tour/bm25.run.gz", "rt") as lines:
        for line in lines:
            query, _, passage, rank, *_ = line.split()
            if int(rank) <= 5:
                found[query] |= has_answer(wanted[query], texts[passage])
    row = rows(ran.out)["bm25"]
    assert row["measures"]["Success@5"]["mean"] == pytest.approx(sum(found.values()) / len(found), abs=1e-6)
    assert row["measures"]["Success@5"]["queries"] == len(wanted)


def test_a_system_of_documents_has_no_column(ran):
    row = rows(ran.out)["documents"]
    assert row["measures"] == {}
    assert row["flags"] == ["it ranks documents, for which the protocol has no column"]


def test_the_labels_are_made_once_and_verify_agrees(ran):
    assert "label" not in ran.run().err
    checked = ran.command(
        "verify", ran.out / "leaderboard.json", "--store", ran.store, "--suite", "suite.yaml"
    )
    assert checked.code == 0, checked.err + checked.out


def test_a_dataset_without_answers_is_told(harness):
    (harness.folder / "qrels").mkdir()
    (harness.folder / "corpus.jsonl").write_bytes(orjson.dumps({"_id": "p", "text": "a fox"}))
    (harness.folder / "queries.jsonl").write_bytes(orjson.dumps({"_id": "q", "text": "fox"}))
    (harness.folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp\t1\n")
    files = {"path": str(harness.folder), "language": "en"}
    harness.suite({**SUITE, "datasets": {"bare": {"files": files}}})
    ran = harness.run()
    assert ran.code == 1  # the documents' row has no column by answers
    assert "the queries have no answers" in ran.err + ran.out
    statuses = [row["status"] for row in leaderboard(harness.out)["rows"]]
    assert statuses == ["failed", "failed", "ok"]
