"""On `tour`, titles lift the main-topic slice and coreference its own: run by the harness on three seeds."""

import json

import pytest

from harness import api

SUITE = """
suite: coreference
datasets:
  en: {{tour: {{language: en, seed: {seed}}}}}
  zh: {{tour: {{language: zh, seed: {seed}}}}}
systems:
  bm25: {{retriever: bm25}}
  titles: {{context: [titles], retriever: bm25}}
  coreference: {{context: [coreference], retriever: bm25}}
  skip: {{context: [{{coreference: {{same: skip}}}}], retriever: bm25}}
  both: {{context: [titles, coreference], retriever: bm25}}
measures: [nDCG@10]
depth: 100
"""
SEEDS = (1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow))


@pytest.fixture(scope="module", params=SEEDS)
def rows(request, tmp_path_factory):
    """(dataset, system) -> row"""
    folder = tmp_path_factory.mktemp("coreference")
    (folder / "suite.yaml").write_text(SUITE.format(seed=request.param), encoding="utf-8")
    api.run(folder / "suite.yaml", store=folder / "store", quiet=True)
    board = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    assert all(row["status"] == "ok" for row in board["rows"])
    return {(row["dataset"], row["system"]): row for row in board["rows"]}


@pytest.fixture(params=("en", "zh"))
def ndcg(request, rows):
    """system, slice -> nDCG@10"""

    def look(system, slice):
        return rows[request.param, system]["slices"][slice]["measures"]["nDCG@10"]["mean"]

    return look


def test_coreference_lifts_its_own_slice(ndcg):
    assert ndcg("bm25", "coreference") < 0.2
    assert ndcg("coreference", "coreference") > ndcg("bm25", "coreference") + 0.5
    assert ndcg("skip", "coreference") > ndcg("bm25", "coreference") + 0.6


def test_coreference_leaves_the_main_topic_and_multi_hop_slices_alone(ndcg):
    for system in ("coreference", "skip"):
        for slice in ("main-topic", "multi-hop"):
            assert abs(ndcg(system, slice) - ndcg("bm25", slice)) < 0.05


def test_titles_lift_the_main_topic_and_not_coreference(ndcg):
    assert ndcg("titles", "main-topic") > ndcg("bm25", "main-topic") + 0.3
    assert ndcg("titles", "coreference") < ndcg("bm25", "coreference") + 0.05


def test_an_explained_short_name_is_a_mention_too(ndcg):
    assert ndcg("skip", "acronym") > ndcg("bm25", "acronym") + 0.1


def test_titles_and_coreference_together_lift_both_slices(ndcg):
    assert ndcg("both", "coreference") > ndcg("bm25", "coreference") + 0.4
    assert ndcg("both", "main-topic") > ndcg("bm25", "main-topic") + 0.3


def test_questions_that_need_no_document_stay_answered(ndcg):
    assert ndcg("coreference", "self-contained") > 0.9


def test_the_row_tells_how_many_passages_changed(rows):
    [step] = [step for step in rows["en", "coreference"]["reported"] if step["method"] == "coreference"]
    assert 0 < step["facts"]["passages_changed"] < step["facts"]["passages"]
