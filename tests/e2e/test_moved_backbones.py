"""Adapters and prefixes of a suite work where the suite, its store and the network have other places."""

import os
import re
import shutil
from pathlib import Path

import pytest
import tiny_models

from harness import run
from harness.cli import main
from harness.store.artifacts import Store

pytestmark = [pytest.mark.slow, pytest.mark.extras]
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

SUITE = """
suite: backbones
datasets:
  tour: {tour: {documents: 10}}
  other: {tour: {documents: 10, seed: 1}, scored: false}
systems:
  adapted: {retriever: {dense: {model: {made: adapted}, dtype: fp32}}}
  again: {retriever: {dense: {model: {made: again}, dtype: fp32}}}
  prompted: {retriever: {dense: {model: {made: prompted}, dtype: fp32}}}
models:
  adapted: {train: {lora: {init: INIT, rank: 2, lr: 0.02, SMALL}}, on: other/test}
  again: {train: {lora: {init: {made: adapted}, rank: 2, lr: 0.02, SMALL}}, on: other/test}
  prompted: {train: {prompts: {init: INIT, prefix: 2, SMALL}}, on: other/test}
measures: [nDCG@10]
depth: 10
""".replace("SMALL", "epochs: 1, batch: 8, query_length: 16, passage_length: 32, dtype: fp32")
MODELS = ("adapted", "again", "prompted")


def network(folder: Path) -> None:
    tiny_models.sentence_transformer(folder, length=48)
    for path in folder.rglob("*"):
        os.utime(path, ns=(10**18, 10**18))  # so long ago that its digest is remembered


def trainings(store: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in (store / "artifacts").glob("train-*")}


@pytest.mark.filterwarnings("ignore")  # peft's and transformers' own
def test_made_adapters_and_prefixes_are_used_and_exported_at_another_place(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    network(first / "models:old" / "tiny")  # a colon, which divides the paths of many variables
    (first / "suite.yaml").write_text(SUITE.replace("INIT", "./models:old/tiny"))
    board = run(first / "suite.yaml", store=first / "store", quiet=True)
    assert [row.error for row in board.rows] == [None] * 3
    before = trainings(first / "store")
    assert len(before) == 3

    second.mkdir()
    (first / "store").rename(second / "store")
    shutil.rmtree(first)
    network(second / "models" / "small")
    (second / "suite.yaml").write_text(SUITE.replace("INIT", "./models/small"))
    store = Store(second / "store").open()
    for step in store.steps():
        if step.startswith(("index-", "search-")):
            store.discard(step)
    again = run(second / "suite.yaml", store=second / "store", quiet=True)
    assert [row.error for row in again.rows] == [None] * 3
    assert trainings(second / "store") == before  # no model was trained again
    assert [row.measures for row in again.rows] == [row.measures for row in board.rows]
    exports_are_loaded_at_a_third_place(second, tmp_path / "third")


def exports_are_loaded_at_a_third_place(folder: Path, place: Path) -> None:
    command = [
        "export",
        str(folder),
        "--form",
        "model",
        "--out",
        str(place),
        "--store",
        str(folder / "store"),
    ]
    assert main(command) == 0
    shutil.rmtree(folder)
    from harness.toolkit.neural import checkpoints

    weights = {name: checkpoints.load(place / name / "model").state_dict() for name in MODELS}
    matrix = "encoder.layer.0.attention.self.query.weight"
    assert not torch.allclose(weights["adapted"][matrix], weights["prompted"][matrix], atol=1e-5)
    assert not torch.allclose(weights["again"][matrix], weights["adapted"][matrix], atol=1e-5)
    pages = {name: (place / name / "model" / "README.md").read_text(encoding="utf-8") for name in MODELS}
    assert all("It changes the network in the folder `backbone`." in page for page in pages.values())
    assert "Started from `small`." in pages["adapted"]
    assert "No other library does." in pages["prompted"]
    assert not any(str(folder.parent) in page for page in pages.values())
    pytest.importorskip("peft")
    code = re.search(r"```python\n(.*?)```", pages["adapted"], re.DOTALL)[1]
    names = {}
    exec(code.replace("FOLDER", str(place / "adapted" / "model")), names)
    theirs = names["model"].merge_and_unload().state_dict()
    assert torch.allclose(theirs[matrix], weights["adapted"][matrix], atol=1e-6)
