"""Contextual document embeddings: both stages beside a plain form of them, the sample, and models that do not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
load_file = pytest.importorskip("safetensors.torch").load_file
pytest.importorskip("huggingface_hub")

import tiny_cde  # noqa: E402

from harness.errors import HarnessError  # noqa: E402
from harness.testing.texts import texts  # noqa: E402
from harness_cde import CdeParams, resolve  # noqa: E402
from harness_cde.retriever import Contextual  # noqa: E402
from harness_cde.settings import missing_files  # noqa: E402

pytestmark = pytest.mark.extras
CORPUS = [
    "the castle stood on a hill",
    "a market by the river",
    "one",
    "old walls: of stone",
    "",
    "bridge",
    "toll",
]
QUERIES = ["where is the castle", "market", ""]


def method(given, **values):
    params = CdeParams(
        Path(given["model"]), backbone=Path(given["backbone"]), dtype="fp32", device="cpu", **values
    )
    return Contextual(params)


class Plain:
    """One text at a time, without padding, by the names of the published tensors."""

    def __init__(self, given):
        self.tensors = load_file(Path(given["model"]) / "model.safetensors")
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(given["backbone"])
        self.networks = {}
        for name in ("first_stage_model.embedder", "second_stage_model.backbone"):
            config = transformers.AutoConfig.from_pretrained(given["backbone"])
            network = self.networks[name] = transformers.ModernBertModel(config).eval()
            network.load_state_dict(
                {key.removeprefix(name + "."): t for key, t in self.tensors.items() if key.startswith(name)}
            )

    def layers(self, name, inputs, activation):
        w0, b0, w2, b2 = (
            self.tensors[f"{name}.{key}"] for key in ("0.weight", "0.bias", "2.weight", "2.bias")
        )
        return activation(inputs @ w0.T + b0) @ w2.T + b2

    def first(self, text):
        ids = torch.tensor([self.tokenizer.encode(text)])
        states = self.networks["first_stage_model.embedder"](input_ids=ids).last_hidden_state[0]
        return self.layers("first_stage_model.mlp", states.mean(0), torch.nn.functional.gelu)

    def second(self, text, context, without_prompt=True):
        ids = self.tokenizer.encode(text)
        colon = self.tokenizer.encode(":", add_special_tokens=False)[0]
        soft = self.layers("second_stage_model.prompt_projection", torch.ones(tiny_cde.SIZE), torch.relu)
        network = self.networks["second_stage_model.backbone"]
        words = network.embeddings.norm(network.embeddings.tok_embeddings(torch.tensor(ids)))
        embeds = torch.cat((context, soft.view(tiny_cde.SOFT, -1), words))[None]
        states = network(inputs_embeds=embeds).last_hidden_state[0, -len(ids) :]
        start = ids.index(colon) + 1 if without_prompt else 0
        mean = states[start:].mean(0)
        vector = self.layers("second_stage_model.output_projection", mean, torch.relu) + mean
        return vector / vector.norm()


def expected(given, order, without_prompt=True):
    plain = Plain(given)
    with torch.no_grad():
        context = torch.stack([plain.first(f"search_document: {CORPUS[number]}") for number in order])
        documents = [plain.second(f"search_document: {text}", context, without_prompt) for text in CORPUS]
        queries = [plain.second(f"search_query: {text}", context, without_prompt) for text in QUERIES]
    return context.numpy(), torch.stack(documents).numpy(), torch.stack(queries).numpy()


@pytest.mark.parametrize("without_prompt", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_both_stages_are_those_of_the_published_format(tmp_path, without_prompt):
    given = tiny_cde.written(tmp_path / "m", pool_ignore_instruction_tokens=without_prompt)
    corpus, cde = texts(CORPUS), method(given, seed=5)
    (folder := tmp_path / "index").mkdir()
    facts = cde.index(corpus, folder)
    order = np.random.default_rng(5).permutation(7)[:6]
    context, documents, queries = expected(given, order, without_prompt)
    np.testing.assert_allclose(np.load(folder / "context.npy"), context, atol=2e-5)
    np.testing.assert_allclose(np.load(folder / "vectors.npy"), documents, atol=2e-5)
    assert (facts["sampled_texts"], facts["dimension"]) == (6, 12)
    hits = cde.open(corpus, folder).search(QUERIES, 7)
    scores = queries @ documents.T
    np.testing.assert_allclose(hits.scores, -np.sort(-scores, axis=1), atol=5e-5)


def test_the_sample_of_a_small_corpus_is_repeated_and_its_seed_counts(tmp_path):
    given = tiny_cde.written(tmp_path / "m")
    contexts = []
    for seed in (0, 0, 1):
        (folder := tmp_path / str(len(contexts))).mkdir()
        method(given, seed=seed).index(texts(CORPUS[:4]), folder)
        contexts.append(np.load(folder / "context.npy"))
    assert contexts[0].shape == (6, 12)
    np.testing.assert_array_equal(contexts[0][4:], contexts[0][:2])
    np.testing.assert_array_equal(contexts[0], contexts[1])
    assert not np.array_equal(contexts[0], contexts[2])


@pytest.mark.parametrize(("settings", "config", "fault"), [
    ({"transductive_tokens_per_document": 2}, {}, "has transductive_tokens_per_document: 2, and only 1"),
    ({"limit_layers": 6}, {}, "limit_layers: 6"),
    ({"architecture": "biencoder"}, {}, "architecture: biencoder"),
    ({}, {"model_type": "bert"}, "built on bert, and only ModernBERT"),
    ({}, {"num_hidden_layers": 4}, "it lacks first_stage_model"),
    ({}, {"num_hidden_layers": 2}, "which have no place"),
])  # fmt: skip
def test_another_format_is_refused(tmp_path, settings, config, fault):
    given = tiny_cde.written(tmp_path / "m", **settings)
    path = Path(given["backbone"]) / "config.json"
    values = {key: value for key, value in json.loads(path.read_text()).items() if key != "layer_types"}
    path.write_text(json.dumps({**values, **config}))
    with pytest.raises(HarnessError, match=fault):
        method(given).encode(["x"], np.zeros((6, 12), np.float32))


def test_planning_takes_the_backbone_from_the_configuration(tmp_path):
    given = tiny_cde.written(tmp_path / "m", embedder="an/encoder-that-is-nowhere")
    params = resolve(CdeParams(Path(given["model"]), backbone_revision="0" * 40), None)
    assert (params.backbone, params.device) == ("an/encoder-that-is-nowhere", "cpu")
    [line] = missing_files(params)
    assert line.startswith(f"model an/encoder-that-is-nowhere at revision {'0' * 40} (not here: `hf download")
