"""NQ-hard's pairs keep their categories from the hub's file to the analysis, by hand on three passages."""

import json

import pytest

from harness import run

CORPUS = [
    {"_id": "d-0", "text": "red fox runs fast", "doc_id": "d", "paragraph_no": 0},
    {"_id": "d-1", "text": "it ran far", "doc_id": "d", "paragraph_no": 1},
    {"_id": "e-0", "text": "blue whale", "doc_id": "e", "paragraph_no": 0},
]
HARD = [  # the first query finds its first passage and not its second, the second finds its passage
    {"query_id": "q1", "query": "red fox", "corpus_id": "d-0", "score": 1, "categories": ["MT"]},
    {"query_id": "q1", "query": "red fox", "corpus_id": "d-1", "score": 1, "categories": ["CR", "MHR"]},
    {"query_id": "q2", "query": "blue whale", "corpus_id": "e-0", "score": 1, "categories": ["CR"]},
]
SUITE = """
suite: hard
datasets: {nq-hard: {dapr: {path: data, dataset: nq-hard}}}
systems: {bm25: {retriever: bm25}}
measures: [RR@10]
analyses: [slices]
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hard")
    for name, rows in (("NaturalQuestions/corpus", CORPUS), ("nq-hard", HARD)):
        (folder / "data" / name).mkdir(parents=True)
        text = "".join(json.dumps({"title": "", **row}) + "\n" for row in rows)
        (folder / "data" / name / "test.jsonl").write_text(text)
    (folder / "suite.yaml").write_text(SUITE)
    return run(folder / "suite.yaml", store=folder / "store", quiet=True)


def table(board, name):
    [entry] = [entry for entry in board.data.analyses if entry.name == f"{name}/nq-hard"]
    return [list(row) for row in entry.rows]


def test_a_pair_counts_for_its_own_categories_alone(board):
    assert table(board, "labels") == [
        ["CR", "bm25", 0.5, 2, 2],  # d-1 is not found, e-0 is first
        ["MHR", "bm25", 0.0, 1, 1],
        ["MT", "bm25", 1.0, 1, 1],
    ]


def test_a_slice_of_queries_counts_all_their_pairs(board):
    assert table(board, "slices") == [["CR", "bm25", 1.0, 2], ["MHR", "bm25", 1.0, 1], ["MT", "bm25", 1.0, 1]]
