"""What is left out of the negatives of a training, and what stands in lists of its own."""

import json

import numpy as np
import pytest

from harness import run
from harness.store.artifacts import Store

pytestmark = pytest.mark.extras
pytest.importorskip("torch")

SUITE = """
suite: tiny-examples
datasets:
  train: {files: {corpus: corpus.jsonl, queries: queries.tsv, qrels: qrels.tsv, split: train, language: en}, scored: false}
  d: {files: {corpus: corpus.jsonl, queries: others.tsv, qrels: others.qrels, split: test, language: en}}
systems:
  bm25: {retriever: bm25}
  trained: {of: bm25, rerank: {crossencoder: {model: {made: ce}, dtype: fp32}, depth: 5}}
models:
  ce:
    train: {cross-encoder: {init: ./tiny, epochs: 1, batch: 6, length: 32, query_length: 16, dtype: fp32}}
    on: train/train
    negatives: {of: bm25, depth: 10, take: 2, RULES}
measures: [RR@10]
depth: 10
"""
PASSAGES = {
    "p0": ("", "the river runs to the sea in 1900"),
    "p1": ("", "the river runs north past the Old BRIDGE"),
    "p2": ("Old Bridge", "the river runs under it"),
    "p3": ("", "the river runs dry"),
    "p4": ("", "the river runs nowhere"),
}


@pytest.fixture
def listed(tmp_path):
    import tiny_models

    tiny_models.sentence_transformer(tmp_path / "tiny", length=16)
    rows = [{"_id": name, "title": title, "text": text} for name, (title, text) in PASSAGES.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "queries.tsv").write_text('q0\twhere the river runs\t["old bridge"]\n')
    (tmp_path / "qrels.tsv").write_text("q0 0 p0 1\n")
    (tmp_path / "others.tsv").write_text("q1\truns dry\n")
    (tmp_path / "others.qrels").write_text("q1 0 p3 1\n")

    def lists(rules):
        """The passages of each file of the examples."""
        (tmp_path / "suite.yaml").write_text(SUITE.replace("RULES", rules))
        board = run(tmp_path / "suite.yaml", store=tmp_path / "store", out=tmp_path / rules[:4], quiet=True)
        assert [row.error for row in board.rows if row.error] == []
        store = Store(tmp_path / "store").open()
        [row] = [row for row in board.rows if row.system == "trained"]
        [key] = [step.key for step in row.provenance.steps if step.step == "examples"]
        folder = store.read(f"examples-{key}").folder
        return {path.stem: sorted(np.load(path)["passages"].tolist()) for path in folder.glob("*.npz")}

    return lists


@pytest.mark.parametrize(
    ("rules", "lists"),
    [
        ("without_answer: false", {"positives": [0], "negatives": [1, 2, 3, 4]}),
        ("without_answer: true", {"positives": [0], "negatives": [3, 4]}),
        # every score is trusted: a positive by score is no negative of a denoised list, but may be one of an undenoised list
        (
            "positives_above: 0.0, undenoised: lists",
            {"positives": [0, 1, 2, 3, 4], "negatives": [], "judged": [0], "undenoised": [1, 2, 3, 4]},
        ),
        (
            "positives_above: 0.0, undenoised: 0.5",
            {"positives": [0, 1, 2, 3, 4], "negatives": [], "undenoised": []},
        ),
    ],
)
def test_examples_hold_what_the_rules_leave(listed, rules, lists):
    assert listed(rules) == lists
