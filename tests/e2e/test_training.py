"""A suite that makes its models: from negatives to a validated checkpoint."""

import gzip
import importlib.util
import json
import shutil
import warnings
from pathlib import Path

import pytest
from tiny_training import collection, planned, written

from harness import run
from harness.api import read_leaderboard
from harness.cli import main
from harness.errors import HarnessError
from harness.store import hits_files
from harness.store.artifacts import Store
from harness_training_data import reading

pytestmark = pytest.mark.extras
pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture
def folder(tmp_path):
    return collection(tmp_path)


def test_a_suite_trains_validates_and_evaluates_its_models(folder):
    # nothing moves, so the trained model is the one that it started from
    subset = "checkpoints: 2, corpus: {of: bm25, depth: 3, whole: true}}"
    path = written(folder, rate=0.0, **{"checkpoints: 2}": subset})
    board = run(path, store=folder / "store", quiet=True)
    rows = {row.system: row for row in board.rows}
    assert [row.error for row in board.rows if row.error] == []
    assert rows["trained"].measures["RR@10"].mean == pytest.approx(rows["zero"].measures["RR@10"].mean)
    [validation] = [item.facts for item in rows["trained"].reported if item.step == "validate"]
    assert len(validation["curve"]) == len(validation["whole"]) == 2
    assert 6 <= validation["corpus"]["candidates"] < 36  # the six judged ones and the top of six runs
    assert validation["corpus"]["comparable"] is False
    assert validation["curve"][0] > validation["whole"][0]  # of fewer passages more are found
    assert validation["kendall_tau"] is None  # equal checkpoints have no order
    drawn = {item.name: item for item in board.data.analyses}
    assert set(drawn) == {"loss/de", "loss/ce", "validation/de"}
    assert [row[0] for row in drawn["loss/de"].rows] == [1, 2, 3, 4, 5, 6]  # 18 queries by 6, twice
    assert "not comparable" in drawn["validation/de"].flags[0]
    assert validation["checkpoint"] == 1  # the first of equals
    assert rows["trained"].cost.training_seconds > 0
    assert rows["trained"].cost.training_tokens_per_second > 0
    assert rows["trained"].cost.training_peak_mb > 10
    assert rows["zero"].cost.training_seconds is None
    kinds = [step.step for step in rows["trained"].provenance.steps]
    assert kinds.count("train") == 2
    assert kinds.count("examples") == 1
    [flag] = rows["trained"].flags
    assert flag.startswith("1 of 12 queries stand in what its models were trained on")
    assert rows["zero"].flags == ()
    assert runner_steps(path, "train") == 3
    assert main(["verify", str(folder), "--store", str(folder / "store")]) == 0
    exported_models_and_examples_are_read_by_others(folder)
    again = run(path, store=folder / "store", quiet=True)
    assert [row.provenance.fingerprint for row in again.rows] == [
        row.provenance.fingerprint for row in board.rows
    ]


def exported_models_and_examples_are_read_by_others(folder: Path) -> None:
    """Of the leaderboard that stands in the folder."""
    for form in ("model", "tevatron-training", "sentence-transformers-training"):
        command = ["export", str(folder), "--form", form, "--out", str(folder / form)]
        assert main([*command, "--store", str(folder / "store")]) == 0
    from transformers import AutoModel, AutoModelForSequenceClassification

    assert AutoModel.from_pretrained(folder / "model" / "trained" / "model") is not None
    AutoModelForSequenceClassification.from_pretrained(folder / "model" / "reranked" / "model")
    card = (folder / "model" / "trained" / "model" / "README.md").read_text(encoding="utf-8")
    assert "with the trainer `dual-encoder`" in card
    assert "| d/test | RR@10 | 0." in card
    assert not (folder / "model" / "zero").exists()
    if importlib.util.find_spec("sentence_transformers") is not None:
        sentence_transformers_gives_the_scores_of_the_run(folder)
    for form in ("tevatron", "sentence-transformers"):
        [path] = (folder / f"{form}-training").glob("*.jsonl")
        examples = list(reading.read(path))
        assert len(examples) == 18
        assert all(example.positives and example.negatives for example in examples)
        assert all(set(example.positives).isdisjoint(example.negatives) for example in examples)


def sentence_transformers_gives_the_scores_of_the_run(folder: Path) -> None:
    texts: dict[str, str] = {}
    for name in ("corpus", "queries"):
        lines = (folder / "data" / f"{name}.jsonl").read_text().splitlines()
        texts |= {row["_id"]: row["text"] for row in map(json.loads, lines)}
    with gzip.open(folder / "runs" / "d" / "trained.run.gz", "rt") as file:
        hits = [line.split() for line in file]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder / "model" / "trained" / "model"), device="cpu")
        queries, passages = (model.encode([texts[hit[at]] for hit in hits]) for at in (0, 2))
    assert len(hits) > 50
    assert (queries * passages).sum(axis=1) == pytest.approx([float(hit[4]) for hit in hits], abs=1e-5)


def runner_steps(path: Path, kind: str) -> int:
    return sum(step.kind == kind for step in planned(path).steps.values())


def test_a_recipe_that_changes_changes_the_keys_of_what_is_built_on_it(folder):
    def keys(**replace: str) -> dict[str, str | None]:
        return {row.system: row.hits for row in planned(written(folder, **replace)).rows}

    usual = keys()
    for change in ({"epochs: 2": "epochs: 3"}, {"take: 1}\n    validate": "take: 2}\n    validate"}):
        changed = keys(**change)
        assert changed["trained"] != usual["trained"]
        assert changed["bm25"] == usual["bm25"]
        assert changed["zero"] == usual["zero"]


def test_seeds_fan_out_and_are_not_mixed(folder):
    text = {"    on: d/train\n    negatives: {of: bm25, depth: 10, take: 1}": (
        "    on: d/train\n    seeds: [0, 1]\n    negatives: {of: bm25, depth: 10, take: 1}"
    ), "of: bm25, rerank": "of: trained, rerank"}  # fmt: skip
    names = [row.system for row in planned(written(folder, **text)).rows]
    assert names == ["bm25", "zero", "trained,seed=0", "trained,seed=1", "reranked,seed=0", "reranked,seed=1"]


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("on: d/train\n    negatives: {of: bm25, depth: 10, take: 1}\n    validate", "on: d/test\n    validate", "'d/test'.*'d'; train on"),
    ("on: d/dev", "on: d/train", "'d/train'"),
    ("on: d/dev", "on: d/test", "'d/test'.*'d'; validate on"),
    ("{made: de}", "{made: dee}", "'dee'; did you mean 'de'"),
    ("{made: de}", "{made: de, part: query}", "'de' has no parts"),
    ("{made: de}", "{made: de, checkpoint: 3}", "'de' has no checkpoint 3; .*1 to 2"),
    ("{of: bm25, depth: 10, take: 1}\n    validate", "{of: bm26, depth: 10}\n    validate", "'bm26'; did you mean 'bm25'"),
    ("{of: bm25, depth: 10, take: 1}\n    validate", "{of: bm25, depth: 20}\n    validate", "takes 20 hits, .*10"),
    ("init: ./tiny, epochs: 2", "init: {made: de}, epochs: 2", "made of itself"),
    ("checkpoints: 2", "every: 100", "'every'"),
])  # fmt: skip
def test_a_suite_that_cannot_be_right_is_refused(folder, old, new, fault):
    with pytest.raises(HarnessError, match=fault):
        planned(written(folder, **{old: new}))


def test_checkpoints_of_another_trainer_are_validated_as_they_appear(folder, capsys):
    """Each has its row; a folder that is no checkpoint is passed over; the second look runs nothing again."""
    suite_file = written(folder)
    saved = folder / "saved"
    for name in ("step-1", "step-2"):
        shutil.copytree(folder / "tiny", saved / name)
    (saved / "unfinished").mkdir()
    command = ["validate", str(saved), "--suite", str(suite_file), "--system", "zero", "--once"]
    command += ["--out", str(folder / "watched"), "--store", str(folder / "store")]
    assert main(command) == 0
    board = read_leaderboard(folder / "watched" / "leaderboard.json")
    assert [row.system for row in board.rows] == ["zero@step-1", "zero@step-2"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("step-1: d: RR@10 0.")
    assert lines[-1].startswith("2 rows: ")
    assert main([*command[:5], "trained", *command[6:]]) == 2  # its model is made by the suite itself


def test_a_folder_without_checkpoints_is_refused(folder, capsys):
    (folder / "empty").mkdir()
    suite_file = written(folder)
    command = ["validate", str(folder / "empty"), "--suite", str(suite_file), "--system", "zero", "--once"]
    assert main([*command, "--out", str(folder / "watched"), "--store", str(folder / "store")]) == 2
    assert "has no checkpoint" in capsys.readouterr().err


ENSEMBLE = """
suite: ensemble
datasets:
  d: {files: {path: data, split: test, language: en}}
systems:
  bm25: {retriever: bm25}
  first: {of: bm25, rerank: {crossencoder: {models: [{made: a}], dtype: fp32}, depth: 10}}
  second: {of: bm25, rerank: {crossencoder: {models: [{made: b}], dtype: fp32}, depth: 10}}
  both: {of: bm25, rerank: {crossencoder: {models: [{made: a}, {made: b}], dtype: fp32}, depth: 10}}
models:
  a:
    train: {cross-encoder: &ce {init: ./tiny, epochs: 1, batch: 6, length: 32, query_length: 16, dtype: fp32}}
    on: d/train
    negatives: {of: bm25, depth: 10, take: 1}
  b: {train: {cross-encoder: *ce}, on: d/train}
measures: [RR@10]
depth: 10
"""


@pytest.mark.slow
def test_an_ensemble_of_made_cross_encoders_has_the_mean_of_their_probabilities(folder):
    path = folder / "suite.yaml"
    path.write_text(ENSEMBLE)
    assert run(path, store=folder / "store", quiet=True).ok
    store = Store(folder / "store").open()
    hits = {row.system: hits_files.load(store.read(row.hits)) for row in planned(path).rows if row.hits}

    def scores(name: str) -> list[dict[int, float]]:
        found = hits[name]
        return [
            dict(zip(passages[passages >= 0].tolist(), row[passages >= 0].tolist(), strict=True))
            for passages, row in zip(found.passages, found.scores, strict=True)
        ]

    compared = 0
    for one, two, mean in zip(scores("first"), scores("second"), scores("both"), strict=True):
        assert one.keys() == two.keys() == mean.keys()
        for passage, value in mean.items():
            assert value == pytest.approx((one[passage] + two[passage]) / 2, abs=1e-6)
            compared += one[passage] != two[passage]
    assert compared > 10
