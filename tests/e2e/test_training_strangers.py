"""A trainer of another distribution, a linear model, in a suite beside ours."""

import pytest
import tiny_models
from running import COMMAND, leaderboard, new_package
from test_new_plugin import child

pytestmark = [pytest.mark.slow, pytest.mark.extras]
pytest.importorskip("torch")
pytest.importorskip("transformers")

SUITE = """
suite: beside
datasets:
  tour: {tour: {documents: 20}}
  other: {tour: {documents: 20, seed: 1}, scored: false}
systems:
  bm25: {retriever: bm25}
  linear: {of: bm25, rerank: {my-linear: {model: {made: linear}}, depth: 20}}
  network: {of: bm25, rerank: {crossencoder: {model: {made: network}, dtype: fp32}, depth: 20}}
models:
  linear:
    train: {my-linear: {epochs: 5}}
    on: other/test
    negatives: {of: bm25, depth: 20, take: 3}
    seeds: [0, 1]
  network:
    train: {cross-encoder: {init: ./tiny, epochs: 1, batch: 8, length: 48, query_length: 16, dtype: fp32}}
    on: other/test
    negatives: {of: bm25, depth: 20, take: 3}
measures: [nDCG@10]
depth: 20
"""


def test_a_linear_model_of_another_distribution_stands_beside_our_network(tmp_path):
    """It shares its examples with our trainer, and is exported with a card. (`test_new_plugin` runs the contract
    of trainers on this package.)"""
    package = new_package(tmp_path, "trainer", "my-linear")
    tiny_models.bert(package / "tiny")
    (package / "suite.yaml").write_text(SUITE)
    store = ("--store", str(tmp_path / "store"))
    ran = child(package, *COMMAND, "run", "suite.yaml", *store)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = {row["system"]: row for row in leaderboard(package)["rows"]}
    assert list(rows) == ["bm25", "linear,seed=0", "linear,seed=1", "network"]
    steps = {
        name: {
            step["step"]: step for step in row["provenance"]["steps"] if step["step"] in ("examples", "train")
        }
        for name, row in rows.items()
    }
    theirs, ours = steps["linear,seed=0"], steps["network"]
    assert theirs["examples"]["key"] == ours["examples"]["key"]
    assert theirs["train"]["plugin"] == "harness-my-linear 0.1.0"
    assert ours["train"]["plugin"].startswith("passage-harness ")
    assert rows["linear,seed=0"]["measures"] != rows["bm25"]["measures"]
    exported = child(package, *COMMAND, "export", ".", "--form", "model", "--out", "models", *store)
    assert exported.returncode == 0, exported.stdout + exported.stderr
    card = (package / "models" / "linear,seed=0" / "model" / "README.md").read_text(encoding="utf-8")
    assert "with the trainer `my-linear`" in card
    assert (package / "models" / "linear,seed=0" / "model" / "weights.json").is_file()
