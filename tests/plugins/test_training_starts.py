"""What a training takes from the model that it starts from: similarity, temperature, pooling, prompts, lengths."""

import numpy as np
import pytest
import tiny_models

from harness import catalogue, plan, suite
from harness.made_models import Planned
from harness.plan import notes as of_plan
from harness.types import Facts
from harness_training import DualEncoderParams, LoraParams, RocketQAv2Params, notes, resolve, starts

pytestmark = pytest.mark.extras

BGE_EN = "Represent this sentence for searching relevant passages: "
PROMPTS = {"prompts": {"query": "the north: ", "document": "old "}}
DOT = {"similarity_fn_name": "dot"}
RECIPE = {
    "pooling": "last", "similarity": "cosine", "temperature": 0.02, "query_length": 9, "passage_length": 10,
    "query_prompt": "q ", "passage_prompt": "", "epochs": 7,
}  # fmt: skip
NAMES = ("similarity", "temperature", "pooling", "query_length", "passage_length", "query_prompt")


def settled(init, kind=DualEncoderParams, **given):
    return resolve(kind(init=init, **given), Facts("en", "en", "passage"))


def sentences(**how):
    return lambda folder: tiny_models.sentence_transformer(folder, **how)


@pytest.fixture(autouse=True)
def no_hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("harness.toolkit.neural.models._asked", lambda model, revision: None)


@pytest.mark.parametrize(("start", "given", "taken"), [
    (sentences(settings=PROMPTS), {}, ("cosine", 0.05, "mean", 48, 48, "the north: ")),
    (sentences(pooling="cls_token", normalise=False, settings=DOT), {}, ("dot", 1.0, "cls", 48, 48, "")),
    (sentences(settings=DOT), {}, ("cosine", 0.05, "mean", 48, 48, "")),  # its vectors have the length 1
    (sentences(), {"similarity": "dot", "query_length": 8}, ("dot", 1.0, "mean", 8, 48, "")),
    (sentences(settings=PROMPTS), {"temperature": 0.1, "query_prompt": ""}, ("cosine", 0.1, "mean", 48, 48, "")),
    (sentences(length=400), {}, ("cosine", 0.05, "mean", 64, 64, "")),  # the network has 64 places
    (tiny_models.bert, {}, ("dot", 1.0, "cls", 32, 64, "")),
    (tiny_models.bert, {"similarity": "cosine"}, ("cosine", 0.05, "cls", 32, 64, "")),
    (lambda _: "bge-small-en-v1.5", {}, ("cosine", 0.05, "cls", 512, 512, BGE_EN)),
    (lambda _: "BAAI/bge-small-en-v1.5", {}, ("cosine", 0.05, "cls", 512, 512, BGE_EN)),
    (lambda _: "org/unknown", {}, ("auto", "auto", "auto", "auto", "auto", None)),
    (lambda _: "org/unknown", {"similarity": "dot"}, ("dot", 1.0, "auto", "auto", "auto", None)),
    (lambda _: Planned("train-0", "model", RECIPE), {}, ("cosine", 0.02, "last", 9, 10, "q ")),
    (lambda _: Planned("train-0", "model", RECIPE), {"similarity": "dot"}, ("dot", 1.0, "last", 9, 10, "q ")),
    (lambda _: Planned("train-0", "model", {"rank": 3}), {}, ("auto", "auto", "auto", "auto", "auto", None)),
])  # fmt: skip
def test_open_settings_are_those_of_the_start(tmp_path, start, given, taken):
    params = settled(start(tmp_path / "init"), **given)
    assert tuple(getattr(params, name) for name in NAMES) == taken
    assert resolve(params, Facts("en", "en", "passage")) == params


def test_every_trainer_of_bi_encoders_takes_them_and_queries_have_a_start_of_their_own(tmp_path):
    init = tiny_models.sentence_transformer(tmp_path / "init", settings=PROMPTS)
    other = tiny_models.sentence_transformer(tmp_path / "other", length=20)
    assert settled(init, LoraParams).temperature == 0.05
    params = settled(init, RocketQAv2Params, init_reranker=init, init_query=other, untied=True)
    assert (params.query_length, params.passage_length) == (20, 48)
    assert (params.query_prompt, params.passage_prompt) == ("", "old ")


def test_an_absent_start_of_queries_leaves_their_settings_open_until_it_is_here(tmp_path, monkeypatch):
    init = tiny_models.sentence_transformer(tmp_path / "init", settings=PROMPTS)
    other = tiny_models.sentence_transformer(tmp_path / "other", length=20)
    params = settled(init, init_query="org/unknown", untied=True)
    assert (params.query_length, params.query_prompt, params.passage_length) == ("auto", None, 48)
    assert notes(params)[-1:] == []
    monkeypatch.setattr(
        "harness.toolkit.neural.models.folder", lambda model, revision: init if model == init else other
    )
    trained = starts.certain(params)
    assert (trained.query_length, trained.query_prompt, trained.passage_length) == (20, "", 48)
    assert (trained.init, trained.init_query) == (params.init, "org/unknown")


def test_the_dry_run_says_what_comes_from_where(tmp_path):
    init = tiny_models.sentence_transformer(tmp_path / "init")
    [line] = notes(settled(init, query_length=8))
    assert "similarity cosine, passage_prompt '', passage_length 48" in line
    assert "as its start's folder says" in line
    assert "temperature 0.05 for vectors of length 1" in line
    assert "query_length 8 where its start's folder says 48" in line
    assert notes(settled("org/unknown"))[-1:] == []


def test_a_made_model_has_the_settings_of_its_start(tmp_path):
    """In sentence-transformers, in `dense`, and as the start of another training."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from test_training_loop import QUERIES, TEXTS, trained

    from harness_dense import DenseParams
    from harness_dense import resolve as resolve_dense
    from harness_training import build_dual_encoder

    init = tiny_models.sentence_transformer(tmp_path / "init", settings=PROMPTS)
    params = settled(init, epochs=2, batch=2, lr=1e-3, dtype="fp32", device="cpu")
    facts, _ = trained(build_dual_encoder(params), tmp_path / "out")
    assert "similarity cosine" in facts["settings"]
    made = tmp_path / "out" / "model"
    assert [getattr(settled(made), name) for name in NAMES] == [getattr(params, name) for name in NAMES]
    for name in ("pooling", "normalise", "similarity", "query_prompt", "passage_prompt", "query_length"):
        of_start, of_made = (
            resolve_dense(DenseParams(model=model), Facts("en", "en", "passage")) for model in (init, made)
        )
        assert getattr(of_made, name) == getattr(of_start, name), name
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(str(made), device="cpu")
    assert (model.similarity_fn_name, model.max_seq_length) == ("cosine", 48)
    assert {name: model.prompts[name] for name in PROMPTS["prompts"]} == PROMPTS["prompts"]
    vectors = model.encode(QUERIES, prompt_name="query"), model.encode(TEXTS, prompt_name="document")
    assert np.linalg.norm(vectors[1], axis=1) == pytest.approx(1, abs=1e-5)


SUITE = """
suite: chain
datasets:
  tour: {tour: {language: en, split: test}}
  other: {tour: {language: en, split: test, seed: 1}, scored: false}
systems:
  a: {retriever: {dense: {model: {made: a}}}}
  b: {retriever: {dense: {model: {made: b}}}}
models:
  a:
    train: {dual-encoder: {init: ./tiny, temperature: 0.1, query_length: 9}}
    on: other/test
    validate: {on: tour/dev, measure: RR@10, checkpoints: 2}
  b: {train: {dual-encoder: {init: {made: a}}}, on: other/test}
measures: [nDCG@10]
"""


def test_a_chain_takes_the_recipe_of_its_start_into_its_key(tmp_path):
    tiny_models.sentence_transformer(tmp_path / "tiny", settings=PROMPTS)
    (tmp_path / "suite.yaml").write_text(SUITE)
    records = catalogue.load()
    planned = plan.build(suite.load(tmp_path / "suite.yaml", records), records, lambda path: path.name)
    trained = [step.record for step in planned.steps.values() if step.kind == "train"]
    for record in trained:
        assert tuple(record.method.params[name] for name in NAMES) == (
            "cosine", 0.1, "mean", 9, 48, "the north: "
        )  # fmt: skip
    assert len(trained) == 3
    said = of_plan.notes(planned, planned.steps, records)
    assert any("a made model" in line and "as the recipe of its start says" in line for line in said)
