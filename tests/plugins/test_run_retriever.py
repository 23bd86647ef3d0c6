"""The retriever `run`: the ranking of another tool's file, and the negatives of its training data."""

import json

import pytest

from harness import testing
from harness.errors import HarnessError
from harness.testing import retriever
from harness.testing.texts import QUERIES, texts
from harness_training_data import RunParams
from harness_training_data.retriever import Run

TREC = "q2 Q0 2 1 9 x\nq1 Q0 0 1 1 x\nq1 Q0 1 2 3 x\n"
CORPUS = ["red fox", "blue whale", "red fox", "green  tree"]
# These hold the score of a text against the text; here it is the file that says it.
BY_TEXT = (
    retriever.scores_equal_texts_equally, retriever.returns_only_candidates, retriever.takes_an_empty_corpus,
)  # fmt: skip


def found(tmp_path, text, ids=("q1", "q2", "q3"), k=3, within=None, asked=(), **params):
    (tmp_path / "file").write_text(text, encoding="utf-8")
    corpus = texts(CORPUS)
    method = Run(RunParams(tmp_path / "file", **params))
    facts = method.index(corpus, tmp_path)
    searcher = method.open(corpus, tmp_path)
    hits = searcher.search_ids(ids, asked or ids, k, within)
    return [row[row >= 0].tolist() for row in hits.passages], {**facts, **searcher.report()}


@pytest.mark.parametrize(
    "text",
    [
        TREC,
        "q1\t1\t1\nq1\t0\t2\nq2\t2\t1\n",
        "qid\tpid\tindex\nq1\t1\t0\nq1\t0\t1\nq2\t2\t0\n",  # T2Ranking's train.bm25.tsv
        "qid\tpid\tindex\tscore\nq1\t1\t0\t8.5\nq1\t0\t1\t7\nq2\t2\t0\t9\n",  # and train.mined.tsv
        "q1\t1\t1\t8.5\nq1\t0\t2\t7\nq2\t2\t1\t9\n",
        "q1\t1\t8.5\nq1\t0\t7\nq2\t2\t9\n",
        json.dumps({"q1": ["1", "0"], "q2": ["2"]}),
    ],
)
def test_each_form_of_runs_gives_its_ranking_by_the_ids_of_the_dataset(tmp_path, text):
    rows, facts = found(tmp_path, text)
    assert rows == [[1, 0], [2], []]
    assert facts["queries_without_results"] == 1


def test_a_run_is_cut_and_scores_within_what_it_has(tmp_path):
    assert found(tmp_path, TREC, k=1)[0] == [[1], [2], []]
    assert found(tmp_path, TREC, ("q1",), within=[[0, 3, -1]])[0] == [[0]]


WHY = {"query_id": "q1", "query": "why", "positive_passages": [{"docid": "1", "text": "x"}]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Tevatron: by id, else by text
        (json.dumps({**WHY, "negative_passages": [{"docid": "3", "text": "x"}, {"docid": "z", "text": "red fox"}]}), [[3, 0], []]),
        (json.dumps(["why", "yes", "green tree", "red fox", "no such"]), [[3, 0], []]),
        (json.dumps({"anchor": "why", "positive": "yes", "negative_1": "blue whale"}), [[1], []]),
        ("why\t-\tyes\t1\nwhy\tT\tgreen tree\t0\nwho\t\tblue whale\t0\nwhy\tT\tred fox\t0\n", [[3, 0], [1]]),
        ("why\t\tyes\t\tblue whale\t0\nwhy\t\tyes\t\tred fox\t0\n", [[1, 0], []]),
        ("why so\tyes\tblue whale\nwhy\tyes\tred fox\n", [[0], []]),
    ],
)  # fmt: skip
def test_each_form_of_training_data_gives_its_negatives_by_ids_or_texts(tmp_path, text, expected):
    rows, facts = found(tmp_path, text, ("q1", "q2"), asked=("why", "who"), unknown="skip")
    assert rows == expected
    assert facts["scores"] == "1 / place in the file"
    assert facts["passages_that_the_collection_lacks"] == text.count("no such")


def test_triples_of_ids_are_read_where_the_suite_says_so(tmp_path):
    text = "q1\t0\t3\nq1\t0\t2\n".replace("q1", "7")
    assert found(tmp_path, text, ("7",), form="training-msmarco-ids")[0] == [[3, 2]]


@pytest.mark.parametrize(
    ("text", "params", "problem"),
    [
        (TREC + "q1 Q0 8 3 1 x\nq2 Q0 9 2 1 x\n", {}, r"file:4: the collection has no passage '8' \(line 4\), '9' \(line 5\) as"),
        ('{"q1": ["0",\n"8"]}', {}, r"file:2: the collection has no passage '8'"),
        (TREC.replace(" 2 1", " 7 1").replace(" 0 1", " 8 1").replace(" 1 2", " 9 2"), {"unknown": "skip"}, "none of its 3 passages"),
        (json.dumps(["why", "yes", "no such", "red fox"]), {}, "1 of its 2 passages are not in the collection"),
        (TREC.replace("q", "x"), {}, "has none of the 3 queries of this split"),
        ("q1 Q0 0 1 nan x\n", {}, "file:1: the score 'nan'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_collection_is_refused(tmp_path, text, params, problem):
    with pytest.raises(HarnessError, match=problem):
        found(tmp_path, text, **params)


def cases():
    return [case for case in testing.cases("retriever", "run", {"file": "."}) if case.check not in BY_TEXT]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_run_keeps_the_contract_of_retrievers(case, tmp_path):
    passages = [{"docid": str(number), "text": ""} for number in range(41)]
    lines = [
        json.dumps(
            {"query_id": query, "query": query, "positive_passages": [], "negative_passages": passages}
        )
        for query in QUERIES
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines), encoding="utf-8")
    given = {"file": str(tmp_path / "run.jsonl"), "unknown": "skip"}
    import dataclasses

    dataclasses.replace(case, given=given)(tmp_path)
