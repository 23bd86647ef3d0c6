"""docT5query on a tiny T5: what is sampled comes from the model, and depends on the text and the seed alone."""

import dataclasses
import json

import numpy as np
import pytest
import slow_t5
import tiny_crossencoders
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.types import Document, Facts, Passage
from harness_doct5query import DocT5QueryParams, missing_files, resolve

pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_doct5query.augmenter import Augmenter

pytestmark = pytest.mark.extras

TEXTS = ["castle river", "the bridge was built.", "painter"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_crossencoders.t5(tmp_path_factory.mktemp("t5"))


def augmenter(model, **given):
    params = DocT5QueryParams(model, **{"queries": 4, "query_length": 5, "device": "cpu", **given})
    return Augmenter(resolve(params, Facts("en", "en", "passage")))


def document(*texts):
    return Document("d", "", tuple(Passage(f"p{i}", text) for i, text in enumerate(texts)))


def test_a_passage_is_followed_by_its_queries(model):
    method = augmenter(model)
    [addition] = method.augment([document(*TEXTS)])
    for text, edits in zip(TEXTS, addition.edits, strict=True):
        queries = method.queries(text)
        assert 0 < len(queries) <= 4
        assert [(edit.start, edit.end, edit.text) for edit in edits] == [
            (len(text), len(text), " " + " ".join(queries))
        ]


@pytest.mark.parametrize("top_k", [1, 3])
def test_each_word_is_one_of_the_likeliest_and_not_always_the_same(model, top_k):
    tensors = tiny_models.read_safetensors(model / "model.safetensors")
    config = json.loads((model / "config.json").read_text())
    vocabulary = tiny_crossencoders.T5_VOCABULARY
    ids = [*(vocabulary.index(f"▁{word}") for word in TEXTS[0].split()), vocabulary.index("</s>")]
    best = np.argsort(-slow_t5.first_logits(tensors, config, ids))[:top_k]
    likeliest = {vocabulary[i] for i in best} - set(tiny_crossencoders.T5_SPECIAL)
    drawn = augmenter(model, queries=60, query_length=1, top_k=top_k).queries(TEXTS[0])
    assert set(drawn) == likeliest != set()


def test_the_seed_and_the_text_decide_and_nothing_else(model):
    method = augmenter(model)
    first = [method.queries(text) for text in TEXTS]
    assert [method.queries(text) for text in reversed(TEXTS)] == first[::-1]
    assert [augmenter(model).queries(text) for text in TEXTS] == first
    assert [augmenter(model, seed=1).queries(text) for text in TEXTS] != first


def test_sampling_leaves_the_callers_chance_alone(model):
    import torch

    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    augmenter(model).queries(TEXTS[0])
    assert torch.rand(1) == wanted


def test_an_empty_passage_gets_none(model):
    [addition] = augmenter(model).augment([document("", TEXTS[0])])
    assert addition.edits[0] == ()
    assert addition.edits[1] != ()


@pytest.mark.slow
@pytest.mark.parametrize("case", testing.cases("context", "doct5query"), ids=lambda case: case.name)
def test_it_keeps_the_contract(case, model, tmp_path):
    given = {"model": str(model), "queries": 1, "query_length": 1, "device": "cpu"}
    dataclasses.replace(case, given=given)(tmp_path)


def test_a_model_that_is_not_here_is_named(tmp_path):
    params = DocT5QueryParams(tmp_path / "absent")
    assert str(tmp_path / "absent") in str(missing_files(params)[0])
    with pytest.raises(HarnessError):
        Augmenter(params)
