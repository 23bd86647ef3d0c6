"""Analyses of collections: similarity in O(n), systems before and after, lengths and grades."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import tiny_models

from harness import catalogue, run, suite
from harness.errors import HarnessError
from harness.types import Facts
from harness_analyses.ils import similarity

SUITE = """
suite: before
datasets:
  mine: {tour: {documents: 12}}
  more: {of: mine, make: [{judged: {file: judgements.tsv}}]}
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
measures: [nDCG@10, RR@10]
analyses: [collection, {false-negatives: {before: mine}}]
depth: 50
"""


@pytest.mark.parametrize("rows", [2, 3, 50])
def test_intra_list_similarity_is_the_mean_over_all_pairs(rows):
    vectors = np.random.default_rng(rows).normal(size=(rows, 16)).astype(np.float32)
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    pairs = [float(unit[i] @ unit[j]) for i in range(rows) for j in range(i)]
    assert similarity(vectors) == pytest.approx(np.mean(pairs), abs=1e-9)
    assert similarity(np.ones((rows, 3), np.float32)) == pytest.approx(1, abs=1e-9)


def test_systems_are_compared_before_and_after_judgements_were_added(tmp_path):
    (tmp_path / "suite.yaml").write_text(
        SUITE.replace("{of: mine, make: [{judged: {file: judgements.tsv}}]}", "{tour: {documents: 12}}")
    )
    first = run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True)
    before = {row.system: row.measures["RR@10"].mean for row in first.rows if row.dataset == "mine"}
    board = json.loads((tmp_path / "leaderboard.json").read_text())
    finding = next(item for item in board["analyses"] if item["name"] == "false-negatives/more")
    # nothing was added: the same numbers twice, and no order changed
    assert {row[3] for row in finding["rows"] if row[:2] == ["bm25", "RR@10"]} == {before["bm25"]}
    assert "RR@10: Kendall's tau 1.000, no pair swapped." in finding["says"]
    gained = next(item for item in board["analyses"] if item["name"] == "gained-positives/more")
    assert {row[0]: row[2] for row in gained["rows"]}["queries that gained a positive"] == 0


def test_added_positives_are_counted_and_the_order_is_looked_at(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE)
    lines = "".join(f"tour-test-{q:05}\ttour-{d:06}-00\t1\n" for q in range(6) for d in range(3))
    (tmp_path / "judgements.tsv").write_text(f"query\tpassage\tgrade\n{lines}")
    made = run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True)
    assert made.ok
    board = json.loads((tmp_path / "leaderboard.json").read_text())
    entries = {item["name"]: item for item in board["analyses"]}
    gained = {row[0]: row[1:] for row in entries["gained-positives/more"]["rows"]}
    assert gained["queries that gained a positive"] == [0.0, 6.0]
    assert gained["positives"][1] > gained["positives"][0]
    rows = {tuple(row[:3]): row[3] for row in entries["false-negatives/more"]["rows"]}
    assert rows["bm25", "nDCG@10", "before"] != rows["bm25", "nDCG@10", "after"]
    counts = {row[0]: row[1] for row in entries["collection/more"]["rows"]}
    assert counts["positives"] == gained["positives"][1]
    grades = entries["grades/more"]["rows"]
    assert sum(row[2] for row in grades) == pytest.approx(1, abs=0.01)
    assert "false-negatives/mine" not in entries


ILS = """
suite: ils
datasets: {tour: {tour: {documents: 12}}}
systems:
  bm25: {retriever: bm25}
measures: [RR@10]
analyses: [{ils: {encoder: {dense: {model: ./tiny, pooling: cls, similarity: dot, dtype: fp32}}, of: OF}}]
depth: 10
"""


@pytest.mark.extras
def test_the_similarity_of_all_queries_is_that_of_all_pairs_by_the_encoder(tmp_path):
    pytest.importorskip("torch")
    from harness_dense import DenseParams, build, resolve

    tiny_models.bert(tmp_path / "tiny")
    (tmp_path / "suite.yaml").write_text(ILS.replace("OF", "queries"))

    def row():
        assert run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True).ok
        board = json.loads((tmp_path / "leaderboard.json").read_text())
        return next(item for item in board["analyses"] if item["name"] == "ils/tour")["rows"][0]

    params = DenseParams(model=tmp_path / "tiny", pooling="cls", similarity="dot", dtype="fp32")
    texts = queries_of(tmp_path)
    vectors = build(resolve(params, Facts("en", "en", "passage"))).encode(texts, True).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = unit @ unit.T
    wanted = pairs[np.triu_indices(len(texts), 1)].mean()
    first = row()
    assert (first[0], *first[2:4]) == ("queries", len(texts), 1)
    assert first[4] == pytest.approx(wanted, abs=6e-5)
    tiny_models.bert(tmp_path / "tiny", seed=2)  # another model in the same folder is another similarity
    assert row()[4] != first[4]


def queries_of(folder) -> list[str]:
    [spec] = suite.load(folder / "suite.yaml", catalogue.load()).datasets
    source = spec.chosen.entry.record.build(spec.chosen.params)
    return [query.text for query in source.queries()]


@pytest.mark.parametrize(
    ("encoder", "problem"),
    [
        (
            "{dense: {model: ./tiny, poling: cls}}",
            "ils.encoder.dense.poling: unknown parameter 'poling'; did",
        ),
        ("{dens: {}}", "ils.encoder: unknown retriever 'dens'; did you mean 'dense'?"),
    ],
)
def test_a_wrong_encoder_of_an_analysis_is_named_once_by_its_place(tmp_path, encoder, problem):
    wrong = re.sub(r"encoder: .*, of", f"encoder: {encoder}, of", ILS.replace("OF", "queries"))
    (tmp_path / "suite.yaml").write_text(wrong)
    with pytest.raises(HarnessError) as raised:
        run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True)
    assert str(raised.value).startswith(f"{tmp_path / 'suite.yaml'}:7: {problem}")
    assert "\n" not in str(raised.value).strip()
