"""Adapters and prefixes name the network that they change by what it is, and not by where it lies."""

import json
import shutil

import pytest
import tiny_models

from harness.errors import HarnessError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from test_training_loop import TEXTS, digests, trained  # noqa: E402

from harness.toolkit.neural import backbones, checkpoints, hub  # noqa: E402
from harness_training import LoraParams, PromptsParams, networks  # noqa: E402
from harness_training.lora import Lora  # noqa: E402
from harness_training.prompts import Prompts  # noqa: E402

COMMIT = "0123456789abcdef0123456789abcdef01234567"
STEP = f"train-{'7' * 64}"
TRAINERS = pytest.mark.parametrize("name", ["lora", "prompts"])


def trainer(name, init, **more):
    """A training of two steps, in which each part of what is stored moves."""
    kind, params = {"lora": (Lora, LoraParams), "prompts": (Prompts, PromptsParams)}[name]
    small = {"rank": 2} if name == "lora" else {"prefix": 2}
    usual = {"epochs": 2, "batch": 5, "lr": 0.02, "query_length": 8, "passage_length": 16}
    usual |= {"similarity": "dot"}
    return kind(params(init=init, dtype="fp32", device="cpu", **small | usual | more))


def weights_of(folder):
    return {name: tensor.clone() for name, tensor in checkpoints.load(folder).state_dict().items()}


@TRAINERS
def test_two_people_with_different_folders_make_the_same_bytes(tmp_path, name):
    stored = []
    for person, folder in (("one", "tiny"), ("other", "models/bert")):
        tiny_models.sentence_transformer(tmp_path / person / folder)
        trained(trainer(name, tmp_path / person / folder), tmp_path / person / "out")
        stored.append(digests(tmp_path / person / "out"))
        texts = [
            path for path in (tmp_path / person / "out").rglob("*") if path.suffix in (".json", ".jsonl")
        ]
        assert len(texts) > 5
        assert not any(str(tmp_path) in path.read_text() for path in texts)
    assert stored[0] == stored[1]


@TRAINERS
def test_a_model_of_the_hub_is_named_by_its_id_and_commit_and_found_in_any_cache(tmp_path, name, monkeypatch):
    asked = []

    def downloaded(model, revision, patterns):
        asked.append((model, revision))
        return cache

    monkeypatch.setattr(hub, "download", downloaded)
    monkeypatch.setattr(hub, "names", lambda model, revision: [])  # it would try for long
    cache = tiny_models.sentence_transformer(tmp_path / "cache")
    trained(trainer(name, "org/tiny", revision=COMMIT), tmp_path / "out")
    model = tmp_path / "out" / "model"
    card = json.loads((model / "backbone.json").read_bytes())
    assert card == {"model": "org/tiny", "revision": COMMIT, "sha256": backbones.digest(cache)}
    if name == "lora":
        config = json.loads((model / "adapter_config.json").read_bytes())
        assert (config["base_model_name_or_path"], config["revision"]) == ("org/tiny", COMMIT)
    cache = cache.rename(tmp_path / "another")
    asked.clear()
    assert checkpoints.load(model) is not None
    assert asked == [("org/tiny", COMMIT)]
    shutil.rmtree(cache)
    tiny_models.sentence_transformer(cache, seed=2)
    with pytest.raises(HarnessError, match=r"another has other weights than the network that .*/out/model"):
        checkpoints.load(model)


@TRAINERS
def test_a_network_that_a_step_made_is_found_in_any_store(tmp_path, name):
    start = tiny_models.sentence_transformer(tmp_path / "store" / STEP / "model")
    made = tmp_path / "store" / f"train-{'8' * 64}"
    trained(trainer(name, start), made)
    card = json.loads((made / "model" / "backbone.json").read_bytes())
    assert card == {"step": STEP, "part": "model", "sha256": backbones.digest(start)}
    (tmp_path / "store").rename(tmp_path / "moved")
    assert checkpoints.load(tmp_path / "moved" / made.name / "model") is not None
    shutil.rmtree(tmp_path / "moved" / STEP)
    with pytest.raises(
        HarnessError, match=r"changes the model of the step train-777777777777, .* is not here"
    ):
        checkpoints.load(tmp_path / "moved" / made.name / "model")


def test_an_adapter_of_an_adapter_is_merged_over_both(tmp_path, monkeypatch):
    start = tiny_models.sentence_transformer(tmp_path / "init")
    monkeypatch.setenv("HARNESS_BACKBONES", str(start))
    trained(trainer("lora", start, dropout=0.0), tmp_path / "first")
    first = tmp_path / "first" / "model"
    monkeypatch.setenv("HARNESS_BACKBONES", f"{first}:{start}")
    trained(trainer("lora", first, dropout=0.0), tmp_path / "second")
    plain, once, twice = (weights_of(path) for path in (start, first, tmp_path / "second" / "model"))
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.allclose(plain[name], once[name], atol=1e-4)
    assert not torch.allclose(once[name], twice[name], atol=1e-4)
    change = torch.linalg.matrix_rank(twice[name] - plain[name], atol=1e-6)
    assert int(change) == 4  # of rank 2 each


def test_the_network_may_lie_in_a_subfolder_that_the_model_names(tmp_path, monkeypatch):
    start = tiny_models.sentence_transformer(tmp_path / "init")
    inner = start / "0_Transformer"
    inner.mkdir()
    for path in [*start.glob("*.json"), *start.glob("*.txt"), *start.glob("*.safetensors")]:
        if path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(inner / path.name)
    modules = json.loads((start / "modules.json").read_bytes())
    tiny_models.as_json(start / "modules.json", [modules[0] | {"path": "0_Transformer"}, *modules[1:]])
    trained(trainer("lora", start), tmp_path / "out")
    monkeypatch.setenv("HARNESS_BACKBONES", str(start))
    tower = networks.Tower(tmp_path / "out" / "model", "auto", False, 0.0, "fp32").eval()
    plain = networks.Tower(start, "auto", False, 0.0, "fp32").eval()
    with torch.no_grad():
        assert not torch.allclose(tower(TEXTS, 16), plain(TEXTS, 16), atol=1e-3)
