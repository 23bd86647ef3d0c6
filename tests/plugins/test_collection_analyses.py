"""Analyses of collections: similarity in O(n), systems before and after, lengths and grades."""

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


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One store for all, so that the systems are searched once."""
    return tmp_path_factory.mktemp("analysed") / "store"


@pytest.mark.parametrize("rows", [2, 3, 50])
def test_intra_list_similarity_is_the_mean_over_all_pairs(rows):
    vectors = np.random.default_rng(rows).normal(size=(rows, 16)).astype(np.float32)
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    pairs = [float(unit[i] @ unit[j]) for i in range(rows) for j in range(i)]
    assert similarity(vectors) == pytest.approx(np.mean(pairs), abs=1e-9)
    assert similarity(np.ones((rows, 3), np.float32)) == pytest.approx(1, abs=1e-9)


def test_systems_are_compared_before_and_after_judgements_were_added(tmp_path, store):
    (tmp_path / "suite.yaml").write_text(
        SUITE.replace("{of: mine, make: [{judged: {file: judgements.tsv}}]}", "{tour: {documents: 12}}")
    )
    first = run(tmp_path / "suite.yaml", store=store, quiet=True)
    before = {row.system: row.measures["RR@10"].mean for row in first.rows if row.dataset == "mine"}
    board = json.loads((tmp_path / "leaderboard.json").read_text())
    finding = next(item for item in board["analyses"] if item["name"] == "false-negatives/more")
    # nothing was added: the same numbers twice, and no order changed
    assert {row[3] for row in finding["rows"] if row[:2] == ["bm25", "RR@10"]} == {before["bm25"]}
    assert "RR@10: Kendall's tau 1.000, no pair swapped." in finding["says"]
    gained = next(item for item in board["analyses"] if item["name"] == "gained-positives/more")
    assert {row[0]: row[2] for row in gained["rows"]}["queries that gained a positive"] == 0


def test_added_positives_are_counted_and_the_order_is_looked_at(tmp_path, store):
    (tmp_path / "suite.yaml").write_text(SUITE)
    lines = "".join(f"tour-test-{q:05}\ttour-{d:06}-00\t1\n" for q in range(6) for d in range(3))
    (tmp_path / "judgements.tsv").write_text(f"query\tpassage\tgrade\n{lines}")
    made = run(tmp_path / "suite.yaml", store=store, quiet=True)
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
    from harness_dense import DenseParams, resolve
    from harness_dense.retriever import Dense

    tiny_models.bert(tmp_path / "tiny")
    (tmp_path / "suite.yaml").write_text(ILS.replace("OF", "queries"))

    def row():
        assert run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True).ok
        board = json.loads((tmp_path / "leaderboard.json").read_text())
        return next(item for item in board["analyses"] if item["name"] == "ils/tour")["rows"][0]

    params = DenseParams(model=tmp_path / "tiny", pooling="cls", similarity="dot", dtype="fp32")
    texts = queries_of(tmp_path)
    vectors = Dense(resolve(params, Facts("en", "en", "passage"))).encode(texts, True).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = unit @ unit.T
    wanted = pairs[np.triu_indices(len(texts), 1)].mean()
    first = row()
    assert first[:4] == ["queries", "dense tiny", len(texts), 1]
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


SIMILAR = """
suite: similar
datasets:
  test: {tour: {documents: 12}}
  train: {tour: {documents: 12, split: dev}, scored: false}
systems:
  bm25: {retriever: bm25}
measures: [RR@10]
analyses: [{similar-queries: {to: [train, test], bins: [0, 0.5, 0.99]}}]
depth: 20
"""


def test_queries_are_grouped_by_the_nearest_query_of_other_splits(tmp_path, store):
    (tmp_path / "suite.yaml").write_text(SIMILAR)
    board = run(tmp_path / "suite.yaml", store=store, quiet=True)
    [row] = board.rows
    entries = entries_of(tmp_path)
    queries = row.measures["RR@10"].queries
    # every query is among those of `test`, so that the nearest query is the query itself
    assert [line[1:] for line in entries["similar-queries/test"]["rows"]] == [[0, 0], [0, 0], [1, queries]]
    [scored] = entries["scores-by-similarity/test"]["rows"]
    assert scored == ["bm25", "from 0.99", pytest.approx(row.measures["RR@10"].mean), queries]


def entries_of(folder):
    return {item["name"]: item for item in json.loads((folder / "leaderboard.json").read_text())["analyses"]}


def test_a_dataset_that_an_analysis_reads_need_not_be_scored_but_must_be_there(tmp_path):
    (tmp_path / "suite.yaml").write_text(SIMILAR.replace("to: [train, test]", "to: [test/dev, trian]"))
    with pytest.raises(HarnessError) as problem:
        suite.load(tmp_path / "suite.yaml", catalogue.load())
    assert "did you mean 'train'?" in str(problem.value)
    assert "'scored: false'" not in str(problem.value)  # what is misspelt may be what reads `train`


def test_a_split_of_a_scored_dataset_is_read_for_its_queries_alone(tmp_path, store):
    text = SIMILAR.replace("to: [train, test]", "to: [test/dev]").replace("  train:", "  #")
    (tmp_path / "suite.yaml").write_text(text)
    board = run(tmp_path / "suite.yaml", store=store, quiet=True)
    similar = entries_of(tmp_path)["similar-queries/test"]
    assert "queries of test/dev, by pairs of characters" in similar["says"]
    assert sum(line[2] for line in similar["rows"]) == board.rows[0].measures["RR@10"].queries


@pytest.mark.extras
def test_collections_are_side_by_side_in_one_table_of_intra_list_similarity(tmp_path):
    pytest.importorskip("torch")
    tiny_models.bert(tmp_path / "tiny")
    text = ILS.replace("OF", "queries").replace(
        "datasets: {", "datasets: {more: {tour: {documents: 9, seed: 1}}, "
    )
    (tmp_path / "suite.yaml").write_text(text.replace("queries}}]", "queries}, together: [tour, more]}]"))
    assert run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True).ok
    entries = entries_of(tmp_path)
    both = entries["ils/tour+more"]
    assert both["columns"][0] == "dataset"
    assert both["rows"] == [[name, *entries[f"ils/{name}"]["rows"][0]] for name in ("tour", "more")]


REASONS = """
suite: reasons
datasets:
  mine: {tour: {documents: 12}, scored: false}
  explained: {of: mine, make: [{judged: {file: labels.jsonl, existing: drop}}]}
systems:
  bm25: {retriever: bm25}
measures: [RR@10]
analyses: [errors]
depth: 20
"""


def test_labels_of_a_sample_of_errors_are_counted_by_pairs_and_queries(tmp_path, store):
    (tmp_path / "suite.yaml").write_text(REASONS)
    reasons = {
        (0, 0): ["entity"],
        (0, 1): ["entity", "typo"],
        (1, 2): ["overlap"],
        (1, 3): [],
        (2, 0): ["entity"],
    }
    lines = [
        {"query": f"tour-test-{query:05}", "passage": f"tour-{number:06}-00", "grade": 0, "kind": "person",
         "rule": "single", "labels": labels, "judgements": []}
        for (query, number), labels in reasons.items()
    ]  # fmt: skip
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(tmp_path / "suite.yaml", store=store, quiet=True)
    table = entries_of(tmp_path)["errors/explained"]
    assert table["columns"] == ["label", "share", "pairs", "queries"]
    assert table["rows"] == [["entity", 0.75, 3, 2], ["overlap", 0.25, 1, 1], ["typo", 0.25, 1, 1]]
    assert table["says"].startswith("The share of the 4 labelled pairs of 3 queries")
